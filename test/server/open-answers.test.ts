import assert from 'node:assert/strict'
import {setImmediate} from 'node:timers/promises'
import {cuttable} from '../../src/server/ending-stream.ts'
import {OpenAnswers, type OpenAnswer} from '../../src/server/open-answers.ts'
import {
  forbidden,
  type StatusError,
  tooManyRequests,
  unauthorized,
} from '../../src/server/kernel/status.ts'
import {TestClock, request, user} from './authn/support.ts'
import {until} from './support.ts'

describe('OpenAnswers', () => {
  const ann = user('ann')
  let answers: OpenAnswers
  let clock: TestClock
  let asked: number
  let found: () => {user: typeof ann; expires?: Date}

  beforeEach(() => {
    clock = new TestClock()
    asked = 0
    found = () => ({user: ann})
    answers = new OpenAnswers(() => {
      asked++
      return new Promise((resolve) => resolve(found()))
    }, clock)
  })
  afterEach(() => answers.close())

  function open(parts: Partial<OpenAnswer> = {}) {
    const ended: StatusError[] = []
    const leave = answers.add({
      request: request({headers: {authorization: 'Bearer x'}}),
      caller: ann,
      effective: ann,
      changes: answers.changes,
      authorize: () => undefined,
      end: (error) => ended.push(error),
      ...parts,
    })
    return {ended, leave}
  }

  it('checks each credential once, however many answers it has, and all of their rights', async () => {
    let authorized = 0
    const authorize = () => {
      authorized++
    }
    for (let count = 0; count < 500; count++) open({authorize})
    answers.changed('all')
    await until(() => authorized === 500)
    assert.equal(asked, 1)
  })

  it('checks in the same turn of the event loop, and again after a while if changes follow', async () => {
    open()
    answers.changed('all')
    await setImmediate()
    await setImmediate()
    assert.equal(asked, 1)
    await until(() => {
      // The check is over once it can be asked for again.
      answers.changed('all')
      return asked === 2
    })
  })

  it('checks nobody while nothing changes', async () => {
    open({expires: new Date(clock.now().getTime() + 1000)})
    const other = open({request: request(), effective: user('bob')})
    answers.changed({user: 'bob'})
    await until(() => asked === 1)
    assert.deepEqual(other.ended, [])
  })

  it('checks an answer whose request was let in before a change that came while it began', async () => {
    const {changes} = answers
    answers.changed('all')
    const {ended} = open({
      changes,
      authorize: () => {
        throw forbidden(undefined, '', 'gone')
      },
    })
    await until(() => ended.length === 1)
    assert.equal(ended[0]?.code, 403)
  })

  it('ends an answer whose credential is another one’s now, or cannot be checked', async () => {
    found = () => ({user: user('bob')})
    const changed = open()
    answers.changed('bearers')
    await until(() => changed.ended.length === 1)
    found = () => {
      throw new Error('broken')
    }
    const broken = open()
    answers.changed('bearers')
    await until(() => broken.ended.length === 1)
    assert.deepEqual([changed.ended[0]?.code, broken.ended[0]?.code], [401, 401])
  })

  it('keeps an answer whose check had to wait, and ends one whose address leaves no room for checks', async () => {
    found = () => {
      if (asked < 3) throw tooManyRequests(1)
      return {user: ann}
    }
    const waited = open()
    answers.changed('all')
    await until(() => asked === 3)
    waited.leave()

    found = () => {
      throw tooManyRequests(1)
    }
    const flooded = open()
    answers.changed('all')
    await until(() => flooded.ended.length === 1)
    assert.deepEqual([waited.ended, flooded.ended[0]?.code], [[], 429])
  })

  it('keeps an answer whose credential was prolonged', async () => {
    found = () => ({user: ann, expires: new Date(clock.now().getTime() + 60_000)})
    const {ended} = open({expires: new Date(clock.now().getTime() + 1000)})
    clock.advance(2000)
    await until(() => asked === 1)
    found = () => {
      throw unauthorized()
    }
    clock.advance(61_000)
    await until(() => ended.length === 1)
  })

  it('does not end what is over', async () => {
    found = () => {
      throw unauthorized()
    }
    const {ended, leave} = open()
    const other = open()
    answers.changed('all')
    leave()
    await until(() => other.ended.length === 1)
    assert.deepEqual(ended, [])
  })
})

describe('cuttable', () => {
  it('fails at the next step after it was cut, so that a long list is not taken for whole', async () => {
    async function* pieces() {
      yield 'a'
      yield await Promise.resolve('b')
    }
    const {stream, cut} = cuttable(pieces())
    const reader = stream[Symbol.asyncIterator]()
    assert.deepEqual(await reader.next(), {done: false, value: 'a'})
    cut(new Error('gone'))
    await assert.rejects(reader.next(), /gone/)
  })
})
