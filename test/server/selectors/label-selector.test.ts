import assert from 'node:assert/strict'

import fc from 'fast-check'

import {
  compileLabelSelector,
  matchesLabels,
  parseLabelSelector,
} from '../../../src/server/selectors/label-selector.ts'

const labels = {tier: 'front', size: '12', 'example.com/zone': 'a', empty: ''}

const selects = (text: string, of: Record<string, string> | undefined = labels) =>
  matchesLabels(parseLabelSelector(text), of)

const matching = [
  '',
  'tier',
  '!color',
  'tier=front',
  'tier==front',
  'tier = front , size',
  'tier!=back',
  'color!=red',
  'tier in (front,back)',
  'tier in (front)',
  'tier notin (back)',
  'color notin (red)',
  'empty=',
  'empty in ()',
  'empty in (x,)',
  'empty in (,x)',
  'size>9',
  'size<100',
  'example.com/zone=a',
  'color!=in',
  'tier,!in',
]

const others = [
  '!tier',
  'color',
  'tier=back',
  'tier!=front',
  'tier in (back)',
  'tier notin (front)',
  'tier=',
  'size>12',
  'size<12',
  'tier>1',
  'color>1',
  'tier=front,color=red',
  'constructor',
  'tostring=x',
]

const refused = [
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a,', "found '', expected: identifier after ','"],
  ['a,,b', "found ',', expected: identifier after ','"],
  [',a', "found ',', expected: !, identifier, or 'end of string'"],
  ['=a', "found '=', expected: !, identifier, or 'end of string'"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['!=a', "found '!=', expected: !, identifier, or 'end of string'"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a=(b)', "unable to parse requirement: found '(', expected: identifier"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  ['a in (b,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  [
    'a>x',
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  [
    'a=-',
    "unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    'a/b/c',
    "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  ],
  ['/b', 'unable to parse requirement: <nil>: Invalid value: "/b": prefix part must be non-empty'],
] as const

describe('label selectors', () => {
  for (const text of matching) {
    it(`selects by "${text}"`, () => assert.equal(selects(text), true))
  }

  for (const text of others) {
    it(`passes over by "${text}"`, () => assert.equal(selects(text), false))
  }

  for (const [text, message] of refused) {
    it(`refuses "${text}" in Kubernetes' words`, () => {
      assert.throws(() => parseLabelSelector(text), {name: 'StatusError', message, code: 400})
    })
  }

  it('has an end: each requirement is tested on every object of a list', () => {
    const many = (count: number) =>
      Array.from({length: count}, (_, index) => `!a${index}`).join(',')
    assert.equal(selects(many(100)), true)
    assert.throws(() => selects(many(101)), {code: 400, message: /more than 100 requirements/})
  })

  it('has an end for the values of all sets together', () => {
    const set = (count: number) => `(${Array.from({length: count}, (_, n) => `v${n}`).join(',')})`
    assert.equal(selects(`color notin ${set(500)},tier notin ${set(500)}`), true)
    const message = 'unable to parse requirement: more than 1000 values'
    assert.throws(() => parseLabelSelector(`tier in ${set(14_000)}`), {code: 400, message})
    assert.throws(() => parseLabelSelector(`a in ${set(500)},b in ${set(501)}`), {message})
    assert.throws(() => parseLabelSelector(`a in (${','.repeat(14_000)})`), {message})
  })

  it('takes an object without labels', () => {
    assert.equal(matchesLabels(parseLabelSelector('a'), undefined), false)
    assert.equal(matchesLabels(parseLabelSelector('!a'), undefined), true)
  })

  it('compares integers exactly beyond what a double holds', () => {
    assert.equal(selects('n>9007199254740992', {n: '9007199254740993'}), true)
    assert.equal(selects('n>1', {n: '9223372036854775808'}), false)
  })

  it('never hangs and never fails other than by BadRequest', () => {
    const piece = fc.constantFrom('a', ' ', ',', '(', ')', '!', '=', '<', '>', 'in', 'notin', '/')
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 12}), (pieces) => {
        try {
          parseLabelSelector(pieces.join(''))
        } catch (error) {
          assert.equal((error as {code?: number}).code, 400)
        }
      }),
    )
  })

  it('agrees with plain equality on any set of labels', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
    fc.assert(
      fc.property(fc.dictionary(word, word), word, word, (set, key, value) => {
        assert.equal(selects(`${key}=${value}`, set), Object.hasOwn(set, key) && set[key] === value)
        assert.equal(selects(`${key}!=${value}`, set), !selects(`${key}=${value}`, set))
        assert.equal(selects(key, set), !selects(`!${key}`, set))
      }),
    )
  })
})

describe('label selectors as objects', () => {
  const chosen = (selector: Parameters<typeof compileLabelSelector>[0]) =>
    matchesLabels(compileLabelSelector(selector), labels)

  it('selects nothing if there is none, everything where it is empty', () => {
    assert.equal(chosen(undefined), false)
    assert.equal(chosen({}), true)
  })

  it('needs every label and every expression', () => {
    const expressions = [
      {key: 'size', operator: 'In', values: ['12', '13']},
      {key: 'color', operator: 'DoesNotExist'},
      {key: 'tier', operator: 'NotIn', values: ['back']},
      {key: 'empty', operator: 'Exists'},
    ]
    assert.equal(chosen({matchLabels: {tier: 'front'}, matchExpressions: expressions}), true)
    assert.equal(chosen({matchLabels: {tier: 'back'}, matchExpressions: expressions}), false)
  })

  it('refuses an operator that there is not', () => {
    assert.throws(() => chosen({matchExpressions: [{key: 'a', operator: 'Gt'}]}), {
      message: '"Gt" is not a valid label selector operator',
    })
  })
})
