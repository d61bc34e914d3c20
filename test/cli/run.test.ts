import assert from 'node:assert/strict'
import {VERSION} from '../../src/version.ts'
import {run} from './program.ts'

describe('the program', () => {
  it('prints its version', async () => {
    const {stdout, exit} = await run('version', '--output', 'short')
    assert.equal(stdout, `v${VERSION}\n`)
    assert.equal(exit, 0)
  })

  it('prints its version for --version', async () => {
    assert.match((await run('--version')).stdout, new RegExp(`^trustadm/${VERSION} `))
  })

  it('lists its commands where none is named', async () => {
    const {stdout, exit} = await run()
    for (const name of ['init', 'serve', 'status', 'reset', 'certificate', 'version']) {
      assert.match(stdout, new RegExp(`^  ${name}\\b`, 'm'))
    }
    assert.equal(exit, 0)
  })

  it('explains a command with its flags and examples', async () => {
    const {stdout} = await run('init', '--help')
    assert.match(stdout, /--apiserver-advertise-address=<address>/)
    assert.match(stdout, /EXAMPLES/)
  })

  it('lines up all flags of a list, and says no sentence twice', async () => {
    const {stdout} = await run('status', '--help')
    assert.match(stdout, /^ {2}-o, --output/m)
    assert.match(stdout, /^ {6}--verbose/m)
    assert.equal(stdout.split('show what runs').length, 2)
  })

  it('explains the same by "help"', async () => {
    assert.equal((await run('help', 'init')).stdout, (await run('init', '--help')).stdout)
  })

  it('lists the commands of a group', async () => {
    const {stdout, exit} = await run('certificate')
    assert.match(stdout, /certificate renew/)
    assert.equal(exit, 0)
  })

  it('refuses an unknown command with 2 and says what was probably meant', async () => {
    const {stderr, stdout, exit} = await run('certificate', 'renw')
    assert.match(stderr, /there is no command "certificate renw"/)
    assert.match(stderr, /certificate renew/)
    assert.equal(stdout, '')
    assert.equal(exit, 2)
  })

  it('points to the commands of a group where one of them was mistyped', async () => {
    assert.match((await run('token', 'nonsense')).stderr, /run "trustadm help token"/)
  })

  it('shows how a command is used in one short line', async () => {
    assert.match(
      (await run('join', '--help')).stdout,
      /^ {2}\$ trustadm join \[ENDPOINT\.\.\.\] \[flags\]$/m,
    )
    assert.match(
      (await run('token', 'delete', '--help')).stdout,
      /token delete TOKEN\.\.\. \[flags\]$/m,
    )
  })

  it('refuses an unknown flag with 2', async () => {
    const {stderr, exit} = await run('version', '--nonsense')
    assert.match(stderr, /--nonsense/)
    assert.equal(exit, 2)
  })

  it('says which flag was probably meant', async () => {
    assert.match((await run('init', '--nodename', 'x')).stderr, /did you mean --node-name\?/)
  })

  it('refuses a phase that does not exist', async () => {
    assert.equal((await run('init', 'phase', 'nonsense')).exit, 2)
  })

  it('does not repeat a word that may be a token where a command was expected', async () => {
    for (const line of ['token abcdef.canary7', 'tokn create abcdef.canary7', 'token canary7']) {
      const {stderr, exit} = await run(...line.split(' '))
      assert.doesNotMatch(stderr, /canary7/)
      assert.equal(exit, 2)
    }
  })
})
