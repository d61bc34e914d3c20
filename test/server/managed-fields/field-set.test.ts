import assert from 'node:assert/strict'

import fc from 'fast-check'

import {
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  fieldSetOf,
  hasPath,
  intersection,
  isEmptySet,
  pathsOf,
  recursiveDifference,
  setOfPath,
  union,
} from '../../../src/server/managed-fields/field-set.ts'
import {decodeFields, encodeFields} from '../../../src/server/managed-fields/managers.ts'
import {elementText} from '../../../src/server/managed-fields/path-element.ts'

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'v:"y"', 'v:2')
const path = fc.array(element, {minLength: 1, maxLength: 4})
const toSet = (paths: string[][]) => paths.map(setOfPath).reduce(union, EMPTY_SET)
const sets: fc.Arbitrary<FieldSet> = fc.array(path, {maxLength: 12}).map(toSet)

const assertEqual = (left: FieldSet, right: FieldSet) =>
  assert.deepEqual(encodeFields(left), encodeFields(right))

describe('field sets', () => {
  it('hold what they were made of and nothing else', () => {
    fc.assert(
      fc.property(fc.array(path), path, (paths, other) => {
        const set = toSet(paths)
        assert.ok(paths.every((one) => hasPath(set, one)))
        assert.equal(hasPath(set, other), paths.map(String).includes(String(other)))
        assert.equal(pathsOf(set).length, new Set(paths.map(String)).size)
      }),
    )
  })

  it('obey the laws of union, intersection and difference', () => {
    fc.assert(
      fc.property(sets, sets, sets, (a, b, c) => {
        assertEqual(union(a, b), union(b, a))
        assertEqual(union(a, union(b, c)), union(union(a, b), c))
        assertEqual(intersection(a, b), intersection(b, a))
        assertEqual(difference(a, b), difference(a, intersection(a, b)))
        assertEqual(union(difference(a, b), intersection(a, b)), a)
        assertEqual(difference(union(a, b), b), difference(a, b))
        assert.ok(isEmptySet(difference(a, a)))
        assert.ok(equalSets(union(a, a), a))
      }),
    )
  })

  it('answer the very same set where nothing changes', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        assert.equal(union(a, intersection(a, b)), a)
        assert.equal(difference(a, difference(b, a)), a)
      }),
    )
  })

  it('lose everything below a path by a recursive difference, and only the path by a plain one', () => {
    const set = fieldSetOf([['a'], ['a', 'b'], ['c']])
    assertEqual(recursiveDifference(set, fieldSetOf([['a']])), fieldSetOf([['c']]))
    assertEqual(difference(set, fieldSetOf([['a']])), fieldSetOf([['a', 'b'], ['c']]))
  })

  it('come back from the wire as they went', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const wire = JSON.stringify(encodeFields(set))
        assert.ok(equalSets(decodeFields(JSON.parse(wire)), set))
        assert.equal(JSON.stringify(encodeFields(decodeFields(JSON.parse(wire)))), wire)
      }),
    )
  })

  it('are written in order, numbers as numbers, with the own mark first', () => {
    const fields = {
      'f:ports': {
        'k:{"containerPort":80}': {},
        'k:{"containerPort":9}': {'f:name': {}, '.': {}},
      },
      'f:a': {},
    }
    assert.equal(
      JSON.stringify(encodeFields(decodeFields(fields))),
      '{"f:a":{},"f:ports":{"k:{\\"containerPort\\":9}":{".":{},"f:name":{}},"k:{\\"containerPort\\":80}":{}}}',
    )
  })

  it('take keys written in another order for the same', () => {
    const set = decodeFields({'k:{"protocol":"TCP", "port":1}': {}})
    assert.ok(hasPath(set, ['k:{"port":1,"protocol":"TCP"}']))
  })

  it('skip kinds of elements that a later version may bring', () =>
    assert.ok(isEmptySet(decodeFields({'z:future': {}}))))

  for (const malformed of ['f', 'name', 'v:{', 'k:[]', 'i:x']) {
    it(`refuse the element ${malformed}`, () =>
      assert.throws(() => decodeFields({[malformed]: {}}), SyntaxError))
  }
})

describe('elementText', () => {
  const texts: [string, string][] = [
    ['f:data', '.data'],
    ['k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'],
    ['v:"x"', '[="x"]'],
    ['i:3', '[3]'],
  ]
  for (const [given, text] of texts) {
    it(`shows ${given} as ${text}`, () => assert.equal(elementText(given), text))
  }
})
