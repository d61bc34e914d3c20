import assert from 'node:assert/strict'
import {parseYaml} from '../../../src/server/codec/yaml.ts'
import {unionOf, fieldSetOf} from '../../../src/server/managed-fields/field-set.ts'
import {applyJsonPatch} from '../../../src/server/patch/json-patch.ts'
import {shapeOf} from '../../../src/server/patch/shape.ts'
import {applyStrategicMergePatch} from '../../../src/server/patch/strategic-merge.ts'
import {assertLinear} from '../../helpers/growth.ts'

const list = <T>(length: number, item: (index: number) => T) =>
  Array.from({length}, (_, index) => item(index))

describe('patches made to take quadratic time', () => {
  it('move the first item of a list of any length only so often', () => {
    const moves = list(9000, () => ({op: 'move', from: '/data/0', path: '/data/0'}))
    assert.ok(applyJsonPatch({data: list(2000, () => 1)}, moves))
    const long = {op: 'add', path: '/data', value: list(150_000, () => 1)}
    assert.throws(() => applyJsonPatch({}, [long, ...moves]), {code: 413})
  })

  it('merge into the lists of one item only so often', () => {
    const env = (count: number) => list(count, (index) => ({name: `e${index}`}))
    const pod = (count: number) => ({spec: {containers: [{name: 'a', env: env(count)}]}})
    const again = (count: number) => ({
      spec: {containers: list(count, () => ({name: 'a', env: env(1)}))},
    })
    const shape = shapeOf('core/v1.Pod')
    assert.ok(applyStrategicMergePatch(pod(1000), again(100), shape))
    assert.throws(() => applyStrategicMergePatch(pod(10_000), again(10_000), shape), {code: 413})
  })

  it('take linear time for the fields of many managers', () =>
    assertLinear('the union of field sets', [2500, 10_000], (size) => {
      const sets = list(size, (index) => fieldSetOf([['data', `f${index}`]]))
      return () => assert.equal(unionOf(sets).children.get('f:data')?.children.size, size)
    }))
})

describe('YAML made to take quadratic time', () => {
  const texts: [name: string, piece: string][] = [
    ['errors', 'a: ]'],
    ['keys', 'a: 1\n'],
    ['items in a flow', '[a],'],
    ['documents', '---\n'],
    ['comments', '#\n'],
    ['anchors', '- &a b\n'],
    ['tags', '- !a\n'],
  ]
  for (const [name, piece] of texts) {
    it(`takes linear time, or none: ${name}`, () =>
      assertLinear(name, [1000, 4000, 30_000, 60_000], (pieces) => {
        const bytes = Buffer.from(piece.repeat(pieces))
        return () => parseYaml(bytes).catch(() => undefined)
      }))
  }

  it('says to send JSON', async () => {
    await assert.rejects(parseYaml(Buffer.from('- a\n'.repeat(20_000))), {
      code: 413,
      message:
        'Request entity too large: limit is 30000 pieces of YAML; send it as JSON, which may be longer',
    })
  })
})
