import assert from 'node:assert/strict'
import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {join} from 'node:path'
import {stripVTControlCharacters} from 'node:util'
import {sayMissing} from '../helpers/clients.ts'
import {LOCAL, PROGRAM, programFixture, type ProgramFixture} from '../helpers/program.ts'
import {atTerminal} from '../helpers/terminal.ts'

const CTRL_C = '\u0003'
const CLEAR_LINE = '\r\u001B[K'
/** A shell that is not ended by Ctrl-C itself, and ends with what it knows of the program. */
const SHELL = ['sh', '-c', 'trap : INT; "$@"; exit $?', 'sh', process.execPath, PROGRAM]
const HINT = 'run the command again to resume'

/** What is left to read of what was drawn. */
const linesLeft = (drawn: string): string[] =>
  drawn
    .split('\r\n')
    .map((line) => stripVTControlCharacters(line.split(CLEAR_LINE).at(-1) ?? '').trimEnd())

describe('Ctrl-C', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  beforeEach(async () => {
    fixture = await programFixture()
  })
  afterEach(() => fixture.remove())

  /** Each command, what it says while it has more to do, and how the line of that phase is left. */
  const COMMANDS = {
    init: {
      line: () => ['init', '--dir', fixture.dir, ...LOCAL],
      phase: 'certs',
      said: 'preflight] ',
      left: /^✖ certs +create CAs, certificates and service account keys$/,
    },
    join: {
      // Nothing listens there: it waits for a control plane that is not there yet.
      line: () => [
        ...['join', '127.0.0.1:1', '--token', 'abcdef.0123456789abcdef'],
        ...['--discovery-token-ca-cert-hash', `sha256:${'ab'.repeat(32)}`],
        ...['--dir', join(fixture.folder, 'node')],
      ],
      phase: 'nothing listens there',
      said: 'nothing listens there',
      left: /^✖ discovery +find out which cluster to trust$/,
    },
  }

  for (const [name, {line, phase, said, left}] of Object.entries(COMMANDS)) {
    it(`leaves no half line of ${name} on a terminal, and ends it with 130`, async function () {
      try {
        execFileSync('python3', ['-c', 'import pty'])
      } catch {
        sayMissing('python3')
        this.skip()
      }
      const turns = [{until: phase, type: CTRL_C}]
      const {code, stdout} = await atTerminal({turns}, ...SHELL, ...line())
      const [last, end] = linesLeft(stdout).slice(-3, -1)
      assert.match(last ?? '', left, stdout)
      assert.equal(end, `Stopped: ${HINT}`)
      assert.ok(stdout.endsWith('\r\n'))
      assert.equal(code, 130)
    })

    it(`ends ${name} --output json with the documented object as the last line`, async () => {
      const child = spawn(process.execPath, [PROGRAM, ...line(), '--output', 'json'])
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString()
        if (!child.killed && stderr.includes(said)) child.kill('SIGINT')
      })
      // Shells call this end 130.
      assert.deepEqual(await once(child, 'close'), [null, 'SIGINT'], stderr)
      assert.equal(stdout, '')
      assert.ok(stderr.endsWith('}\n'), stderr)
      assert.deepEqual(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? ''), {
        error: {code: 'INTERRUPTED', message: 'stopped', hints: [HINT]},
      })
    })
  }
})
