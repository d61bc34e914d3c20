import assert from 'node:assert/strict'
import fc from 'fast-check'
import {findDuplicateKeys, parseJson} from '../../../src/server/codec/json.ts'
import {jsonSyntaxFault} from '../../../src/server/codec/json-syntax.ts'

const bytes = (text: string) => Buffer.from(text)

const faults: [text: string, says: string][] = [
  ['', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['{bad json', "invalid character 'b' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{"a":}', "invalid character '}' looking for beginning of value"],
  ['hello', "invalid character 'h' looking for beginning of value"],
  ['{} {}', "invalid character '{' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['nil', "invalid character 'i' in literal null (expecting 'u')"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1e+x', "invalid character 'x' in exponent of numeric literal"],
  ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
]

describe('JSON bodies', () => {
  for (const [text, says] of faults) {
    it(`refuses ${JSON.stringify(text)} in Go’s words`, () => {
      assert.throws(() => parseJson(bytes(text)), {name: 'MalformedError', message: says})
    })
  }

  it('finds a fault exactly where the parser does', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      'true',
      '-',
      '"\\',
      ' ',
    )
    fc.assert(
      fc.property(fc.array(pieces, {maxLength: 8}), (parts) => {
        const text = parts.join('')
        let parses = true
        try {
          JSON.parse(text)
        } catch {
          parses = false
        }
        assert.equal(jsonSyntaxFault(bytes(text)) === undefined, parses, text)
      }),
      {numRuns: 3000},
    )
  })

  it('finds nothing wrong with any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => assert.equal(jsonSyntaxFault(bytes(text)), undefined)),
    )
  })

  it('reads values as they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = parseJson(bytes(JSON.stringify(value)))
        assert.deepEqual(parsed.value, JSON.parse(JSON.stringify(value)))
        assert.equal(parsed.hasDuplicates, false)
      }),
    )
  })

  it('nests as deep as Go does and no deeper', () => {
    const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth))
    assert.doesNotThrow(() => parseJson(nested(10_000)))
    assert.throws(() => parseJson(nested(10_001)), {message: 'exceeded max depth'})
    assert.throws(() => parseJson(bytes('['.repeat(1_000_000))), {message: 'exceeded max depth'})
  })

  it('does not take braces and colons inside of strings for structure', () => {
    const parsed = parseJson(bytes('{"a:{[":"\\":{","b":"\\\\"}'))
    assert.deepEqual(parsed.value, {'a:{[': '":{', b: '\\'})
    assert.equal(parsed.hasDuplicates, false)
  })

  it('lets the last of several equal keys count and tells that there are some', () => {
    const parsed = parseJson(bytes('{"a":1,"a":2}'))
    assert.deepEqual(parsed, {value: {a: 2}, hasDuplicates: true, values: 2})
  })
})

describe('JSON of very many values', () => {
  it('is refused before it is parsed', () => {
    const text = `[${Array.from({length: 300_000}, () => '1').join(',')}]`
    assert.throws(() => parseJson(bytes(text)), {
      message: 'Request entity too large: limit is 50000 values in a JSON document',
    })
  })

  it('is taken while the commas stand in strings', () => {
    assert.equal(parseJson(bytes(`"${','.repeat(300_000)}"`)).value, ','.repeat(300_000))
  })
})

describe('keys that stand twice', () => {
  it('are told with their path, in the order in which they repeat', () => {
    const text = '{"a":1,"l":[{},{"b":1,"c":{"x":1,"x":2},"b":[1,2]}],"a":{"a":1}}'
    assert.deepEqual(findDuplicateKeys(bytes(text), 10), [['l', 1, 'c', 'x'], ['l', 1, 'b'], ['a']])
  })

  it('are the same key when one of them is written with escapes', () => {
    assert.deepEqual(findDuplicateKeys(bytes('{"a":"}","\\u0061":1}'), 10), [['a']])
  })

  it('are not mixed up with strings in lists', () => {
    assert.deepEqual(findDuplicateKeys(bytes('{"l":["a","a"],"m":"l"}'), 10), [])
  })

  it('are told up to a number', () => {
    const text = `{${Array.from({length: 50}, () => '"a":1').join(',')}}`
    assert.equal(findDuplicateKeys(bytes(text), 10).length, 10)
  })

  it('are found behind a string of megabytes', () => {
    const text = `{"s":"${'x'.repeat(3_000_000)}","a":1,"a":2}`
    assert.deepEqual(findDuplicateKeys(bytes(text), 10), [['a']])
  })
})
