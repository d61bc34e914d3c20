import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'
import {formatHistory, nodeListView} from '../../../src/cli/views/nodes.ts'
import type {NodeReport} from '../../../src/control-plane/nodes/report.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

const CERTIFICATE = {
  serial: '1f',
  issuer: 'CN=kubernetes',
  notBefore: '2026-02-01T12:00:00Z',
  notAfter: '2026-03-11T12:00:00Z',
  source: 'node',
} as const

const report = (more: Partial<NodeReport> = {}): NodeReport => ({
  name: 'worker-1',
  registered: '2026-02-01T12:00:00Z',
  certificate: CERTIFICATE,
  serving: null,
  trusts: ['sha256:a'],
  lastRenewal: '2026-02-28T12:00:00Z',
  problems: [],
  ...more,
})

describe('the table of nodes', () => {
  const table = (isWide: boolean, ...nodes: NodeReport[]) =>
    nodeListView(isWide, NOW).table({nodes}) as string

  it('shows the worst problem of each', () => {
    const problems = [
      {code: 'expired', message: 'its certificate expired'},
      {code: 'unknown', message: 'more'},
    ] as const
    const expired = {...report(), problems: [...problems], lastRenewal: null, trusts: null}
    assert.equal(
      table(false, {...expired, certificate: null}, report()),
      [
        'NAME       STATE     EXPIRES     RENEWED   CAS         ISSUER',
        'worker-1   expired   <unknown>   <never>   <unknown>   <unknown>',
        'worker-1   ok        10d         24h ago   1           CN=kubernetes',
        '',
        '! worker-1: its certificate expired; more',
        '',
      ].join('\n'),
    )
    assert.match(table(true, expired), /its certificate expired; more\n$/)
  })

  it('explains only the worst of many', () => {
    const nodes = Array.from({length: 25}, () =>
      report({problems: [{code: 'expired', message: 'too late'}]}),
    )
    const text = table(false, ...nodes)
    assert.equal(text.match(/^! /gm)?.length, 20)
    assert.match(text, /^and 5 more: see --output wide$/m)
  })

  it('fits 80 columns without cutting a name', () => {
    const name = 'gpu-node-with-a-long-name.rack-17.example.com'
    const stream = {isTTY: true, columns: 80}
    const painted = nodeListView(false, NOW, stream).table({nodes: [report({name})]}) as string
    const text = stripVTControlCharacters(painted)
    assert.ok(text.split('\n').every((line) => line.length <= 80))
    assert.ok(text.includes(`\n${name} `))
  })

  it('cannot be disturbed by what a node reports', () => {
    const certificate = {...CERTIFICATE, issuer: 'CN=\u001b[2Jevil\nline'}
    const text = table(false, report({certificate}))
    assert.equal(text.split('\n').length, 3)
    assert.ok(!text.includes('\u001b'))
  })
})

describe('the timeline of a node', () => {
  it('fits 80 columns, and lists the rules of requests that wait', () => {
    const painted = formatHistory(
      {
        node: 'worker-1',
        entries: [
          {
            time: '2026-02-01T12:00:00.123Z',
            what: 'joined',
            message: 'serial 1f of CN=kubernetes; requested by bootstrap token abcdef; '.repeat(3),
            request: 'csr-1',
            serial: '1f',
          },
        ],
        waiting: [
          {
            request: 'csr-2',
            approvers: [
              {
                approver: 'nodeclient',
                decision: 'hold',
                rules: [
                  {code: 'node-name', rule: 'the name is free', holds: false, reason: 'taken'},
                ],
              },
            ],
          },
        ],
      },
      {isTTY: true, columns: 80},
    )
    const text = stripVTControlCharacters(painted)
    assert.ok(text.split('\n').every((line) => line.length <= 80))
    assert.match(text, /^2026-02-01T12:00:00Z {2}joined {6}serial 1f/)
    assert.match(text, /csr-2 waits\n {2}✖ nodeclient: the name is free: taken\n/)
  })
})
