import assert from 'node:assert/strict'
import {readFile, stat, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {nodeUnit} from '../../src/node/node-unit.ts'
import {installUnit} from '../../src/node/systemd-unit.ts'
import {useFolder} from './support.ts'

const commandIn = (content: string) => /^ExecStart=(.+)$/m.exec(content)?.[1]

describe('the unit of node run', () => {
  const folder = useFolder()

  it('starts this program for the folders of the node', () => {
    const unit = nodeUnit({dir: '/n', certDir: '/c'}, ['/usr/bin/node', '/bin/run.js'], '/units')
    assert.equal(unit.path, '/units/trustadm-node.service')
    const command = '/usr/bin/node /bin/run.js node run --dir /n --cert-dir /c'
    assert.equal(commandIn(unit.content), command)
  })

  it('has no word that systemd would read as something else', () => {
    const {content} = nodeUnit({dir: '/a b', certDir: '/50%/$HOME/"c"'}, ['/node'], '/units')
    const command = String.raw`/node node run --dir "/a b" --cert-dir "/50%%/$$HOME/\"c\""`
    assert.equal(commandIn(content), command)
  })

  it('has no line that a path has added: line breaks and other control characters are refused', () => {
    for (const [dir, certDir] of [
      ['/a\nExecStartPre=/tmp/evil', '/c'],
      ['/a', '/c\r\nUser=root'],
      ['/a', '/c\u0000'],
    ] as const) {
      assert.throws(() => nodeUnit({dir, certDir}, ['/node'], '/units'), {code: 'USAGE'})
    }
  })

  it('is written for everybody to read, and replaced as a whole', async () => {
    const unit = nodeUnit({dir: '/n', certDir: '/c'}, ['/node'], folder())
    await writeFile(unit.path, 'an older one')
    await installUnit(join(folder(), 'note.json'), unit)
    assert.equal(await readFile(unit.path, 'utf8'), unit.content)
    assert.equal((await stat(unit.path)).mode & 0o777, 0o644)
  })

  it('never replaces a link, as of a unit that was masked', async () => {
    const unit = nodeUnit({dir: '/n', certDir: '/c'}, ['/node'], folder())
    await symlink('/dev/null', join(folder(), 'trustadm-node.service'))
    await assert.rejects(installUnit(join(folder(), 'note.json'), unit), {code: 'FILE_UNSAFE'})
  })
})
