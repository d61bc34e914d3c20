import assert from 'node:assert/strict'
import {archiveView} from '../../../src/cli/views/backup.ts'
import {rotationView} from '../../../src/cli/views/ca-rotation.ts'
import {issuancesView} from '../../../src/cli/views/issuances.ts'
import {formatHistory, nodeListView} from '../../../src/cli/views/nodes.ts'
import {statusView} from '../../../src/cli/views/status.ts'
import {LATER, SIGNER, TIME} from './width-samples.ts'
import {atWidth, shows} from './widths.ts'

const GREEN_CHECK = '\u001b[32m✔\u001b[39m '
const names = {dns: [], ips: [], emails: [], uris: []}

describe('what a person sees on a terminal', () => {
  const ci = process.env.CI
  const [term, noColour] = [process.env.TERM, process.env.NO_COLOR]
  beforeEach(() => {
    delete process.env.CI
    delete process.env.NO_COLOR
    process.env.TERM = 'xterm'
  })
  afterEach(() => {
    for (const [name, value] of Object.entries({CI: ci, TERM: term, NO_COLOR: noColour})) {
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
    }
  })

  it('starts with the user of a certificate where the log has little room', async () => {
    const entry = {
      time: TIME,
      decision: 'issued',
      signer: SIGNER,
      request: 'node-csr-0123456789abcdef',
      requester: 'system:bootstrap:abcdef',
      subject: 'CN=system:node:worker-1, O=system:nodes',
      names,
      notAfter: LATER,
    }
    const text = await atWidth(120, () => shows(issuancesView(false), {entries: [entry]}))
    assert.match(text, / CN=system:node:worker-1\b/)
  })

  it('marks what holds in green, as "certificate show" does', () => {
    const rules = [{code: 'signer', rule: 'the signer is right', holds: true, reason: ''}]
    const approvers = [{approver: 'nodeclient', decision: 'hold', reason: 'r', rules}]
    const history = {node: 'a', entries: [], waiting: [{request: 'csr', approvers}]}
    const text = formatHistory(history as never, {isTTY: true, columns: 80})
    assert.ok(text.includes(`${GREEN_CHECK}nodeclient: the signer is right`))
  })

  it('has the state of a node in the colour of how bad it is', async () => {
    const report = (name: string, code?: string) => ({
      name,
      certificate: null,
      trusts: null,
      lastRenewal: null,
      problems: code === undefined ? [] : [{code, message: code}],
    })
    const nodes = [report('a', 'revoked'), report('b', 'not-ready'), report('c')]
    const text = await shows(nodeListView(false, new Date(TIME), {isTTY: true, columns: 80}), {
      nodes,
    })
    assert.ok(text.includes('\na      \u001b[31mrevoked  \u001b[39m '), JSON.stringify(text))
    assert.ok(text.includes('\nb      \u001b[33mnot-ready\u001b[39m '))
    assert.ok(text.includes('\nc      \u001b[32mok       \u001b[39m '))
    assert.ok(text.includes('\n\u001b[31m! \u001b[39ma: revoked\n\u001b[33m! \u001b[39mb: '))
  })

  it('marks the steps of a rotation as the command that runs them', async () => {
    const {isTTY, columns} = process.stdout
    Object.assign(process.stdout, {isTTY: true, columns: 80})
    try {
      const text = await shows(rotationView('/srv/plane'), {
        credentials: {rotation: {certificateAuthorities: {phase: 'Prepare', lastInitiation: TIME}}},
        action: 'start',
        dependents: [],
        stillTrusting: [],
        authorities: [],
        advice: [],
        steps: [
          {summary: 'create the new CAs', state: 'done'},
          {summary: 'wait for nodes', state: 'running'},
          {summary: 'later', state: 'waiting'},
        ],
      })
      assert.ok(text.includes(`\n${GREEN_CHECK}create the new CAs\n`))
      assert.ok(text.includes('\n\u001b[33m…\u001b[39m wait for nodes\n  later\n'))
    } finally {
      Object.assign(process.stdout, {isTTY, columns})
    }
  })

  it('has whole seconds in status, too', async () => {
    const server = {running: true, ready: true, pid: 1, checks: [], problems: [], version: null}
    const startedAt = '2026-11-17T23:56:50.216Z'
    const text = await shows(statusView, {
      dir: '/srv',
      endpoint: 'https://10.0.0.1:6443',
      server: {...server, startCommand: null, startedAt},
      servers: [],
      differences: [],
      objects: [],
      certificates: {certificates: [], certificateAuthorities: []},
    })
    assert.match(text, /^since +2026-11-17T23:56:50Z$/m)
  })

  it('has whole seconds of backups, too', async () => {
    const createdAt = '2026-11-18T00:08:11.508Z'
    const status = {
      file: 'a',
      kind: 'objects-only',
      keys: 1,
      files: 0,
      bytes: 1,
      revision: 1,
      createdAt,
    }
    const text = await shows(archiveView, {...status, program: '1.0.0', sha256: 'f'})
    assert.match(text, /^ +created +2026-11-18T00:08:11Z, by trustadm 1\.0\.0$/m)
  })
})
