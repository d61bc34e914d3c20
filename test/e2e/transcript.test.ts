import assert from 'node:assert/strict'
import {sharedCluster} from '../helpers/cluster.ts'
import {CHAPTERS} from './transcript/chapters/index.ts'
import {Player} from './transcript/player.ts'
import type {Answer, Chapter, Step} from './transcript/step.ts'

/** Steps in a row that may be played at once, and every other alone. */
function* rounds(steps: Step[]): Generator<Step[]> {
  let waiting: Step[] = []
  for (const step of steps) {
    if (!step.together && waiting.length > 0) {
      yield waiting
      waiting = []
    }
    if (step.together) waiting.push(step)
    else yield [step]
  }
  if (waiting.length > 0) yield waiting
}

async function playChapter({steps}: Chapter, namespace: string): Promise<Map<Step, Answer>> {
  const {kubeconfig} = await sharedCluster()
  const player = await Player.open(kubeconfig, namespace)
  const answers = new Map<Step, Answer>()
  const made = await player.play({
    ask: 'POST /api/v1/namespaces',
    body: {metadata: {name: namespace}},
  })
  assert.equal(made.code, 201)
  const account = {ask: 'GET /api/v1/namespaces/$ns/serviceaccounts/default'}
  while ((await player.play(account)).code !== 200) await new Promise(setImmediate)
  for (const round of rounds(steps)) {
    await Promise.all(
      round.map(async (step) => {
        answers.set(step, await player.play(step))
      }),
    )
  }
  await player.play({ask: 'DELETE /api/v1/namespaces/$ns'})
  return answers
}

describe('what a Kubernetes server answers', function () {
  this.timeout(60_000)
  const answers = new Map<Step, Answer>()

  before(async () => {
    const played = await Promise.all(
      CHAPTERS.map((chapter, index) => playChapter(chapter, `transcript-${index}-ns`)),
    )
    for (const chapter of played) for (const [step, answer] of chapter) answers.set(step, answer)
  })

  for (const {name, steps} of CHAPTERS) {
    describe(name, () => {
      for (const step of steps) {
        it(step.says, () => {
          assert.deepEqual(answers.get(step), step.answer, step.ask)
        })
      }
    })
  }
})
