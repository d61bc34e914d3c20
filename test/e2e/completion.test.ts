import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {chmod, mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {stripVTControlCharacters} from 'node:util'
import {SHELLS, type Shell} from '../../src/cli/completion.ts'
import {connect} from '../../src/client/connect.ts'
import {makeRequest} from '../control-plane/requests/support.ts'
import {sayMissing} from '../helpers/clients.ts'
import {PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {atTerminal} from '../helpers/terminal.ts'

const TAB = '\t'
const ENTER = '\r'
const CLEAR = '\u0015'
const PROMPT = 'ready> '

/** How each starts with nothing but a file of ours, in this folder. */
const START: Record<Exclude<Shell, 'fish'>, {file: string; line: (folder: string) => string[]}> = {
  bash: {
    file: '.bashrc',
    line: (folder) => ['bash', '--noprofile', '--rcfile', join(folder, '.bashrc'), '-i'],
  },
  zsh: {
    file: '.zshrc',
    line: (folder) => ['env', `ZDOTDIR=${folder}`, 'zsh', '-o', 'NO_GLOBAL_RCS', '-i'],
  },
}

/** What is typed before the tab, and what has to be on the line after it. */
const CASES: [name: string, typed: string, completed: string][] = [
  ['a command', 'trustadm stat', 'trustadm status'],
  ['a command behind a flag', 'trustadm --quiet stat', 'trustadm --quiet status'],
  ['a command of a group, by an alias', 'trustadm certs check', 'check-expiration'],
  ['a flag', 'trustadm init --apiserver-b', '--apiserver-bind-port'],
  ['the value of a flag', 'trustadm status --output j', '--output json'],
  ['the value of a flag behind =', 'trustadm status --output=j', '--output=json'],
  ['one of several values', 'trustadm init --skip-phases certs,boot', 'certs,bootstrap-token'],
  ['a certificate', 'trustadm certificate renew sched', 'renew scheduler.conf'],
  ['a file', 'trustadm init --config $HOME/settings-of', 'settings-of-a-plane.yaml'],
  ['a file behind =', 'trustadm init --config=$HOME/settings-of', 'settings-of-a-plane.yaml'],
]

/** Names in the cluster: the command that takes one, what is typed of it, and the whole. */
const NAMES: [name: string, command: string, typed: string, completed: string][] = [
  ['the name of a request', 'certificate show', 'e2e-to-be', 'e2e-to-be-completed'],
  ['the name of a node', 'node history', 'worker-to-be', 'worker-to-be-completed'],
]

/** The program as the shells find it. */
const LAUNCHER = `#!/bin/sh
exec "${process.execPath}" "${PROGRAM}" "$@"
`
/** On a busy machine a cluster takes longer to answer than a person would wait. */
const PATIENTLY = '--request-timeout 100s'

const isThere = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], {stdio: 'ignore'})
    return true
  } catch {
    return false
  }
}

describe('completion in real shells', function () {
  this.timeout(120_000)
  let fixture: ProgramFixture
  let env: Record<string, string>
  let tokenId = ''
  before(async () => {
    fixture = await programFixture()
    const made = await fixture.init('--output', 'json')
    tokenId = (JSON.parse(made.stdout) as {token: string}).token.slice(0, 6)
    const admin = await connect(join(fixture.dir, 'admin.conf'))
    await makeRequest(admin, {name: 'e2e-to-be-completed'})
    await admin.nodes.create({metadata: {name: 'worker-to-be-completed'}})
    await admin.close()
    const bin = join(fixture.folder, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'trustadm'), LAUNCHER)
    await chmod(join(bin, 'trustadm'), 0o755)
    await writeFile(join(fixture.folder, 'settings-of-a-plane.yaml'), '')
    env = {
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      HOME: fixture.folder,
      KUBECONFIG: join(fixture.dir, 'admin.conf'),
      XDG_CONFIG_HOME: fixture.folder,
    }
  })
  after(() => fixture.remove())

  const scriptOf = async (shell: Shell) => {
    const path = join(fixture.folder, `completion.${shell}`)
    await writeFile(path, (await trustadm('autocomplete', shell)).stdout)
    return path
  }

  for (const shell of SHELLS) {
    describe(shell, () => {
      let script = ''
      before(async function () {
        for (const needed of [shell, ...(shell === 'fish' ? [] : ['python3'])]) {
          if (isThere(needed)) continue
          sayMissing(needed)
          this.skip()
        }
        script = await scriptOf(shell)
      })

      /** The line after the tab, without what a terminal does with it. */
      const completed = async (typed: string, expected: string): Promise<string> => {
        if (shell === 'fish') {
          const line = `source ${script}; complete -C "${typed}"`
          const shown = execFileSync('fish', ['--no-config', '-c', line], {
            env: {...process.env, ...env},
          })
          return `${typed.replace(/\S*$/, '')}${shown.toString()}`
        }
        const {line, file} = START[shell]
        const settings = `PS1='${PROMPT}'\nPROMPT_EOL_MARK=''\nsource ${script}\n`
        await writeFile(join(fixture.folder, file), settings)
        const {stdout} = await atTerminal(
          {
            turns: [
              {until: PROMPT, type: `${typed}${TAB}`},
              {until: expected.slice(-6), type: `${CLEAR}exit${ENTER}`},
            ],
            columns: 200,
            env,
          },
          ...line(fixture.folder),
        )
        return stripVTControlCharacters(stdout).replaceAll('\u0008', '').replaceAll('\u0007', '')
      }

      for (const [name, typed, expected] of CASES) {
        it(`completes ${name}`, async () => {
          const text = await completed(typed, expected)
          assert.ok(text.includes(expected), JSON.stringify(text))
          assert.doesNotMatch(text, /error|not found/i)
        })
      }

      it('completes the id of a token of the cluster', async () => {
        const typed = `trustadm token delete ${PATIENTLY} ${tokenId.slice(0, 3)}`
        const text = await completed(typed, tokenId)
        assert.ok(text.includes(tokenId), JSON.stringify(text))
      })

      for (const [name, command, typed, expected] of NAMES) {
        it(`completes ${name} of the cluster`, async () => {
          const text = await completed(`trustadm ${command} ${PATIENTLY} ${typed}`, expected)
          assert.ok(text.includes(expected), JSON.stringify(text))
        })
      }

      // bash lists only after a second tab.
      if (shell === 'bash') return
      it('offers all commands where nothing is typed yet', async () => {
        const text = await completed('trustadm ', 'version')
        for (const command of ['certificate', 'init', 'join', 'status', 'token', 'version']) {
          assert.match(text, new RegExp(`\\b${command}\\s`), JSON.stringify(text))
        }
        assert.doesNotMatch(text, /zsh:|_\w+:\d+:|not found|__complete/)
      })
    })
  }
})
