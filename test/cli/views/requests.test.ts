import assert from 'node:assert/strict'
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
})

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

  it('fits a narrow terminal, and never cuts a name', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 120}})
    const lines = table
      .add([summary(NAME)], NOW)
      .trimEnd()
      .split('\n')
    // eslint-disable-next-line no-control-regex -- colours have no width
    const widths = lines.map((line) => line.replaceAll(/\u001B\[\d+m/g, '').length)
    assert.ok(Math.max(...widths) <= 120, String(widths))
    assert.match(lines[1] ?? '', new RegExp(`^${NAME} .*…[\\w/-]+-client-kubelet `))
  })

  it('leaves out the duration before a row would wrap', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 50}})
    const [head = ''] = table.add([summary('ada')], NOW).split('\n')
    assert.match(head, /^NAME +AGE +SIGNER +REQUESTER +STATE$/)
  })

  it('leaves out more where a long name takes all the room', () => {
    const table = new RequestTable(false, {stream: {isTTY: true, columns: 80}})
    const [head = '', row = ''] = table.add([summary(NAME)], NOW).split('\n')
    assert.match(head, /^NAME +AGE +SIGNER +STATE$/)
    assert.match(row, new RegExp(`^${NAME} +60m +….*kubelet `))
  })

  it('cuts nothing if nobody looks', () => {
    const table = new RequestTable(false, {stream: {isTTY: false, columns: 20}})
    assert.match(table.add([summary(NAME)], NOW), /kube-apiserver-client-kubelet +system:boot/)
  })

  it('has the pairing words of requests that wait, if there are any', () => {
    const stream = {isTTY: false, columns: 0}
    const plain = new RequestTable(false, {stream}).add([summary('a')], NOW)
    assert.doesNotMatch(plain, /PAIRING WORDS/)
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
