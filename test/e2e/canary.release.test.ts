import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {describedCommands} from '../cli/program.ts'
import {inParallel} from '../helpers/in-parallel.ts'
import {LOCAL, PROGRAM, trustadm, type Ended} from '../helpers/program.ts'
import {COMMAND_LINES, MISTAKES, type Line} from './canary/command-lines.ts'
import {furnish, MALFORMED, newFolder, SECRETS, TOKEN, UNKNOWN, type Place} from './canary/place.ts'
import {keysIn, leaksIn, type Secret} from './canary/secrets.ts'
import {GoClient} from './traces/go-client.ts'

interface Outcome extends Ended {
  command: string
  line: Line
  shown: string
}

/** As much as can be got out of the program. */
const NOISY = {DEBUG: '*', CLI_FLAGS_DEBUG: '1', NODE_DEBUG: 'undici,fetch'}
const FORMATS = [['--verbose'], ['--output', 'json', '--verbose']]
const PATIENCE = 20_000
/** How long one that says nothing on its standard output may go on. */
const SILENCE = 2000

async function runLine(command: string, line: Line, more: string[]): Promise<Outcome> {
  const args = [...command.split(':'), ...line.args, ...more]
  const env = {PATH: process.env.PATH, HOME: process.env.HOME, ...NOISY, ...line.env}
  const child = spawn(process.execPath, [PROGRAM, ...args], {env, timeout: PATIENCE})
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (line.lasts) child.kill('SIGTERM')
  })
  const timer = line.lasts && setTimeout(() => child.kill('SIGTERM'), SILENCE)
  child.stdin.on('error', () => undefined).end(line.input)
  const [code] = (await once(child, 'close')) as [number | null]
  if (timer) clearTimeout(timer)
  const shown = `trustadm ${args.join(' ')}`
  return {command, line, shown, stdout, stderr, code: code ?? -1}
}

/** Shows the server all that could be taken for a token, so that it has something to tell of. */
async function present({endpoint}: Place): Promise<void> {
  for (const bearer of [TOKEN, UNKNOWN, MALFORMED, SECRETS.bearer.value.toString()]) {
    const client = new GoClient({
      server: `https://${endpoint}`,
      protocol: 'http/1.1',
      userAgent: 'canary',
      bearer,
    })
    await client.call({method: 'GET', path: '/api/v1/nodes'})
    await client.close()
  }
}

async function filesIn(folder: string): Promise<[string, string][]> {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true})
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(
    files.map(async ({parentPath, name}) => {
      const file = join(parentPath, name)
      return [file, await readFile(file, 'latin1')] as [string, string]
    }),
  )
}

describe('secrets', function () {
  this.timeout(180_000)
  let place: Place
  let manifest: Awaited<ReturnType<typeof describedCommands>>
  let secrets: Secret[] = []
  const outcomes: Outcome[] = []

  before(async () => {
    manifest = await describedCommands()
    const folder = await newFolder()
    const dir = join(folder, 'plane')
    const made = await runLine(
      'init',
      {args: ['--dir', dir, ...LOCAL, '--token', TOKEN], prints: [SECRETS.token], succeeds: true},
      [],
    )
    place = await furnish(folder, {dir, kubeconfig: join(dir, 'admin.conf')})
    const {backup, tokenFile} = place
    const backedUp = await runLine(
      'backup',
      {args: [backup, '--passphrase-file', tokenFile, '--dir', dir], succeeds: true},
      [],
    )
    outcomes.push(made, backedUp)

    const jobs = Object.entries(COMMAND_LINES).map(([command, linesOf], turn) => async () => {
      const hasOutput = 'output' in (manifest[command]?.flags ?? {})
      const formats = hasOutput ? FORMATS : FORMATS.slice(0, 1)
      const mistake = MISTAKES[turn % MISTAKES.length]
      const lines = [...linesOf(place), ...(mistake ? [mistake] : [])]
      for (const [index, line] of lines.entries()) {
        // Failures are all told in one place: there, either form will do.
        const chosen = line.succeeds ? formats : [formats[(turn + index) % formats.length] ?? []]
        for (const format of chosen) outcomes.push(await runLine(command, line, format))
      }
    })
    await inParallel(jobs, (job) => job())
    await present(place)
    const files = (await filesIn(folder)).filter(([file]) => file !== place.brokenKey)
    const kept = files.flatMap(([file, text]) => keysIn(file, text))
    secrets = [...Object.values(SECRETS), ...kept]
  })

  after(async () => {
    await trustadm('reset', '--yes', '--dir', place.dir)
    await place.remove()
  })

  it('are many, and the keys of the cluster and its nodes are among them', () => {
    assert.ok(secrets.some(({name}) => name.endsWith('pki/ca.key')))
    assert.ok(secrets.some(({name}) => name.endsWith('admin.conf')))
    assert.ok(secrets.some(({name}) => name.includes('kubelet-client-')))
  })

  for (const command of Object.keys(COMMAND_LINES)) {
    it(`are not on the outputs of "${command.replace(':', ' ')}"`, () => {
      const own = outcomes.filter((outcome) => outcome.command === command)
      assert.ok(own.length > 0)
      for (const {line, shown, stdout, stderr, code} of own) {
        const {prints = [], succeeds} = line
        if (succeeds) {
          assert.equal(code, 0, `${shown}: ${stderr}`)
          const printed = prints.map(({name}) => name)
          assert.deepEqual(leaksIn(stdout, prints), printed, `${shown} is there to print it`)
        }
        const hidden = secrets.filter((secret) => !prints.includes(secret))
        assert.deepEqual(leaksIn(stdout, hidden), [], `on the standard output of ${shown}`)
        assert.deepEqual(leaksIn(stderr, secrets), [], `on the standard error of ${shown}`)
      }
    })
  }

  it('are not in the logs, the audit, the issuance log and the settings of the cluster', async () => {
    const logs = await filesIn(join(place.dir, 'logs'))
    const names = logs.map(([file]) => file)
    for (const name of ['audit.log', 'issuance.log', 'server.log'])
      assert.ok(names.includes(join(place.dir, 'logs', name)), names.join())
    const settings = join(place.dir, 'config.yaml')
    const files: [string, string][] = [...logs, [settings, await readFile(settings, 'utf8')]]
    for (const [file, text] of files) assert.deepEqual(leaksIn(text, secrets), [], file)
  })

  it('are not in what the server tells of itself', async () => {
    const admin = await connect(place.kubeconfig)
    try {
      for (const path of ['/metrics', '/readyz?verbose', '/api/v1/events'])
        assert.deepEqual(leaksIn(await admin.raw(path), secrets), [], path)
    } finally {
      await admin.close()
    }
  })

  it('of the token are not kept by a machine that has joined', async () => {
    for (const name of ['by-flag', 'by-file', 'by-input', 'by-environment', 'by-config']) {
      const files = await filesIn(join(place.folder, name))
      assert.ok(
        files.some(([file]) => file.endsWith('kubelet.conf')),
        name,
      )
      for (const [file, text] of files) assert.deepEqual(leaksIn(text, [SECRETS.token]), [], file)
    }
  })
})
