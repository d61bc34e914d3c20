import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describeEmbedded} from '../helpers/on-etcd.ts'
import {LOCAL, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, {stdio: 'ignore'}).status === 0

/** How much the disk takes, and what does not fit any more. */
const DISKS: [size: string, what: string, says: (dir: string) => RegExp][] = [
  [
    '8k',
    'its first files',
    (dir) => new RegExp(`^Error: cannot write ${dir}/\\S+: the disk is full$`),
  ],
  [
    '400k',
    'the store of its server',
    (dir) => new RegExp(`^Error: the server did not start: the disk of ${dir} is full$`),
  ],
]

describeEmbedded('init on a full disk', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let disk = ''
  beforeEach(async () => {
    fixture = await programFixture()
    disk = join(fixture.folder, 'disk')
    await mkdir(disk)
  })
  afterEach(async () => {
    run('umount', disk)
    await fixture.remove()
  })

  for (const [size, what, says] of DISKS) {
    it(`says so in one sentence, with what to do, when it has no room for ${what}`, async function () {
      if (!run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'none', disk)) {
        process.stderr.write('      skipped: only root may mount a small file system\n')
        this.skip()
      }
      const dir = join(disk, 'plane')
      const {code, stdout, stderr} = await trustadm('init', '--dir', dir, ...LOCAL, '--quiet')
      const [sentence, hint, ...more] = stderr.split('\n')
      assert.match(sentence ?? '', says(dir))
      assert.match(hint ?? '', /^Try this: free some space and run the command again; nothing /)
      assert.deepEqual(more, [''])
      assert.equal(stdout, '')
      assert.equal(code, 1)
    })
  }
})
