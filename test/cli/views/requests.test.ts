import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'
import fc from 'fast-check'
import {RequestTable} from '../../../src/cli/views/requests.ts'
import {shown, shownValue} from '../../../src/cli/views/requests-text.ts'

const NOW = new Date('2026-01-01T00:00:00Z')

const summary = (name: string, signer = 'kubernetes.io/kube-apiserver-client-kubelet') => ({
  name,
  created: '2025-12-31T23:00:00Z',
  signer,
  requester: 'system:bootstrap:abcdef',
  requestedSeconds: null,
  state: 'Pending' as const,
  request: {
    subject: {commonName: 'system:node:worker-1', organizations: ['system:nodes'], other: []},
    names: {dns: [], ips: [], emails: [], uris: []},
    key: {algorithm: 'ECDSA P-256', bits: 256, pin: 'sha256:0'},
    signatureAlgorithm: 'ecdsa-with-SHA256',
  },
})

/** The lines as they look: colours have no width. */
const plain = (text: string): string[] => stripVTControlCharacters(text).trimEnd().split('\n')
const widest = (lines: readonly string[]): number => Math.max(...lines.map(({length}) => length))

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

describe('text of others', () => {
  it('never moves a cursor, makes a line or turns one around', () => {
    const any = fc.string({unit: 'binary', maxLength: 40})
    fc.assert(
      fc.property(any, (text) => {
        assert.doesNotMatch(shown(text), INVISIBLE)
        assert.doesNotMatch(shownValue(text), INVISIBLE)
      }),
    )
  })

  it('stays as it is where it is plain', () => {
    for (const text of ['system:node:worker-1', 'ada@example.com', 'kubernetes.io/x']) {
      assert.equal(shownValue(text), text)
    }
  })

  it('cannot pass for more than one value', () => {
    assert.equal(shownValue('a, O=b'), '"a, O=b"')
    assert.equal(shownValue('a" O=b'), String.raw`"a\" O=b"`)
  })

  it('is cut where it has no end', () => {
    assert.ok(shownValue('a'.repeat(10_000)).length < 400)
  })
})

describe('the table of requests', () => {
  const NAME = 'node-csr-0123456789abcdefghijklmnopqrstuvwxyzABCDEF'

  it('shows the subject, and whole names where there is room', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 120}})
    const lines = plain(table.add([summary(NAME)], NOW))
    assert.ok(widest(lines) <= 120, lines.join('\n'))
    assert.match(lines[0] ?? '', /^NAME +AGE +SIGNER +REQUESTER +SUBJECT +STATE$/)
    assert.match(lines[1] ?? '', new RegExp(`^${NAME} .* CN=system:node:worker-`))
  })

  it('fits 80 columns, with the longest names and pairing words too, and keeps the node', () => {
    const waiting = {...summary(NAME), pairingWords: 'abdomen bagpipe cabaret daytime'}
    for (const one of [summary('ada'), summary('node-csr-3Q2d'), summary(NAME), waiting]) {
      const table = new RequestTable(false, {stream: {isTTY: true, columns: 80}})
      const lines = plain(table.add([one], NOW))
      assert.ok(widest(lines) <= 80, lines.join('\n'))
      assert.match(lines[0] ?? '', / SUBJECT /)
      assert.match(lines[1] ?? '', / CN=(?:system:node:|…)worker-1/)
    }
  })

  it('says which requests have a subject that cannot be read', () => {
    const table = new RequestTable(false, {stream: {isTTY: false, columns: 0}})
    assert.match(table.add([{...summary('ada'), request: null}], NOW), / <unreadable> /)
  })

  it('leaves out columns before a row would wrap', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 50}})
    const [head = ''] = table.add([summary('ada')], NOW).split('\n')
    assert.match(head, /^NAME +AGE +SUBJECT +STATE$/)
  })

  it('cuts a name only if nothing else is left to narrow', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 80}})
    const [head = '', row = ''] = table.add([summary(NAME)], NOW).split('\n')
    assert.match(head, /^NAME +AGE +SUBJECT +STATE$/)
    assert.match(row, /^node-csr-\w+… +60m +CN=system:node:worker-1, …/)
  })

  it('cuts nothing if nobody looks', () => {
    const table = new RequestTable(false, {stream: {isTTY: false, columns: 20}})
    assert.match(table.add([summary(NAME)], NOW), /kube-apiserver-client-kubelet +system:boot/)
  })

  it('has the pairing words of requests that wait, if there are any', () => {
    const stream = {isTTY: false, columns: 0}
    const without = new RequestTable(false, {stream}).add([summary('a')], NOW)
    assert.doesNotMatch(without, /PAIRING WORDS/)
    const waiting = {...summary('b'), pairingWords: 'acorn bagel cabin daring'}
    const [head = '', ...rows] = new RequestTable(false, {stream})
      .add([summary('a'), waiting], NOW)
      .split('\n')
    assert.match(head, / PAIRING WORDS$/)
    assert.match(rows[1] ?? '', / acorn bagel cabin daring$/)
  })

  it('has its head once, and keeps its columns for rows that come later', () => {
    const table = new RequestTable(false, {stream: {isTTY: false, columns: 0}})
    const first = table.add([summary('a-long-name')], NOW)
    const later = table.add([summary('b')], NOW)
    assert.match(first, /^NAME/)
    assert.equal(later.indexOf('60m'), first.split('\n')[1]?.indexOf('60m'))
  })
})
