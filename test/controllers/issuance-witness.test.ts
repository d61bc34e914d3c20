import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {checkWitnesses} from '../../src/controllers/issuance-witness.ts'
import type {HeadVerdict} from '../../src/controllers/signing/file-issuance-log.ts'
import {LogAlarm} from '../../src/controllers/signing/log-alarm.ts'
import type {LogNote} from '../../src/controllers/signing/log-line.ts'
import {withWitnessed} from '../../src/csr/log-head.ts'
import {fixedClock} from '../pki/support.ts'

const MINUTE = 60_000
const GRACE = 15_000
const HEAD = {chain: 'a'.repeat(64), size: 9, hash: 'b'.repeat(64), seal: 'c'.repeat(32)}

const request = (name: string, head = HEAD): CertificateSigningRequest =>
  withWitnessed(
    {
      metadata: {name, uid: name},
      spec: {request: '', signerName: 's', username: `system:node:${name}`},
    },
    head,
  )

describe('the witnesses of an issuance log', () => {
  let clock: ReturnType<typeof fixedClock>
  let lines: string[]
  let notes: LogNote[]
  let verdict: HeadVerdict
  let looks: number
  let isBroken: boolean
  let alarm: LogAlarm
  let seen: Map<string, CertificateSigningRequest>
  let others: string[]
  let reconcile: ReturnType<typeof checkWitnesses>
  const {signal} = new AbortController()

  beforeEach(() => {
    clock = fixedClock()
    isBroken = false
    ;[lines, notes, others, looks, seen] = [[], [], [], 0, new Map()]
    alarm = new LogAlarm(
      (line) => lines.push(line),
      'trustadm certificate log --verify --dir /p',
      clock,
    )
    reconcile = checkWitnesses(
      {find: (name) => Promise.resolve(seen.get(name))},
      {
        issuances: {
          verdictOn: () => {
            looks += 1
            return Promise.resolve(verdict)
          },
          note: (note) => {
            notes.push(note)
            return isBroken ? Promise.reject(new Error('nothing is added')) : Promise.resolve()
          },
        },
        isOthers: (chain) => others.includes(chain),
        alarm,
        clock,
      },
    )
  })
  const handIn = async (...requests: CertificateSigningRequest[]) => {
    for (const csr of requests) {
      const {name = ''} = csr.metadata
      seen.set(name, csr)
      await reconcile(name, signal)
    }
  }

  it('are counted while the line is there, each request once', async () => {
    verdict = 'there'
    await handIn(request('one'), request('one'), request('two'))
    assert.deepEqual(alarm.counts, {there: 2, lost: 0, unknown: 0})
    assert.equal(looks, 2)
    assert.deepEqual([lines, notes, alarm.problem], [[], [], undefined])
  })

  it('are asked again by a request of the same name after the first was deleted', async () => {
    verdict = 'there'
    await handIn(request('one'))
    seen.clear()
    await reconcile('one', signal)
    await handIn(request('one'))
    assert.equal(looks, 2)
  })

  it('raise the alarm for a line that is gone, which is noted in the log', async () => {
    verdict = 'lost'
    await handIn(request('one'))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /^error: the issuance log lacks a line that the node one has seen/)
    assert.match(lines[0] ?? '', /check it with "trustadm certificate log --verify --dir \/p"$/)
    assert.match(alarm.problem ?? '', /lacks a line that the node one has seen/)
    assert.equal(notes[0]?.decision, 'lost')
    const {seal: _seal, ...head} = HEAD
    assert.deepEqual(notes[0]?.heads, [head])
  })

  it('raise it also if nothing can be noted in the log, once for each request', async () => {
    ;[verdict, isBroken] = ['lost', true]
    await handIn(request('one'), request('one'))
    assert.deepEqual([lines.length, looks, alarm.counts.lost], [1, 1, 1])
    assert.match(alarm.problem ?? '', /lacks a line that the node one has seen/)
  })

  it('raise it once a minute, however many they are', async () => {
    verdict = 'lost'
    await handIn(...Array.from({length: 100}, (_, index) => request(`n${index}`)))
    assert.deepEqual([lines.length, notes.length, alarm.counts.lost], [1, 1, 100])
    clock.advance(MINUTE)
    await handIn(request('later'))
    assert.deepEqual([lines.length, notes.length], [2, 2])
  })

  it('raise it once for a log that was replaced, and again for another one', async () => {
    verdict = 'replaced'
    await handIn(request('one'))
    clock.advance(MINUTE)
    await handIn(request('two'))
    assert.equal(lines.length, 1)
    await handIn(request('three', {...HEAD, chain: 'd'.repeat(64)}))
    assert.equal(lines.length, 2)
  })

  it('are named if nobody has given out what they report, without an alarm', async () => {
    verdict = 'unknown'
    await handIn(request('one'), request('two'))
    assert.deepEqual(lines, [])
    assert.deepEqual(await reconcile('one', signal), {requeueAfter: GRACE})
    clock.advance(GRACE)
    assert.deepEqual(await reconcile('one', signal), {})
    await reconcile('two', signal)
    assert.equal(lines.length, 1)
    assert.match(
      lines[0] ?? '',
      /^warning: the node one reports a head that is not in the issuance/,
    )
    assert.deepEqual([alarm.problem, notes, alarm.counts.unknown], [undefined, [], 2])
  })

  it('are not named if another signer has just begun the log', async () => {
    verdict = 'unknown'
    await handIn(request('one'))
    others = [HEAD.chain]
    clock.advance(GRACE)
    await reconcile('one', signal)
    assert.deepEqual([lines, alarm.counts.unknown], [[], 0])
  })

  it('are named if they report what is not a head, which the log is not asked for', async () => {
    const odd = request('one')
    odd.metadata.annotations = {'trustadm.io/witnessed-head': 'x\u001b[2J'.repeat(1000)}
    await handIn(odd)
    assert.equal(looks, 0)
    assert.ok(lines[0]?.includes('the node one') && !lines[0].includes('\u001b'))
  })

  for (const [name, given, chains] of [
    ['another signer answers for it', 'unknown', [HEAD.chain]],
    ['its log was moved away', 'recorded', []],
  ] as const) {
    it(`say nothing if ${name}`, async () => {
      verdict = given
      others = [...chains]
      await handIn(request('one'))
      assert.deepEqual([lines, notes], [[], []])
    })
  }
})
