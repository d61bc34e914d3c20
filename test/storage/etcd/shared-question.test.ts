import assert from 'node:assert/strict'
import {SharedQuestion} from '../../../src/storage/etcd/shared-question.ts'

describe('a shared question', () => {
  it('is asked once for all who come while the one before is in flight', async () => {
    const answers: ((value: number) => void)[] = []
    const question = new SharedQuestion(
      () => new Promise<number>((resolve) => answers.push(resolve)),
    )
    const first = question.answer()
    const later = [question.answer(), question.answer()]
    assert.equal(answers.length, 1)
    answers[0]?.(1)
    assert.equal(await first, 1)
    while (answers.length < 2) await Promise.resolve()
    answers[1]?.(2)
    assert.deepEqual(await Promise.all(later), [2, 2])
    assert.equal(answers.length, 2)
  })

  it('is asked again after a failure', async () => {
    let asked = 0
    const question = new SharedQuestion(() => {
      asked += 1
      return asked === 1 ? Promise.reject(new Error('no answer')) : Promise.resolve(asked)
    })
    const [first, second] = [question.answer(), question.answer()]
    await assert.rejects(first, /no answer/)
    assert.equal(await second, 2)
  })
})
