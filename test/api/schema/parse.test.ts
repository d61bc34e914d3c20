import assert from 'node:assert/strict'
import {linkType, parseTable} from '../../../src/api/schema/parse.ts'

const parseOne = (line: string) => {
  const [type] = parseTable('demo/v1', `Demo | A demo.\n${line}\n`, {core: 'core/v1'})
  return type?.fields[0]
}

describe('a schema table’s text', () => {
  it('reads number, pointer, name, type and description', () => {
    const field = parseOne('  4* immutable:bool | Whether it may change.')
    assert.equal(field?.number, 4)
    assert.equal(field.pointer, true)
    assert.equal(field.always, false)
    assert.equal(field.name, 'immutable')
    assert.equal(field.type, 'bool')
    assert.equal(field.scalar, true)
    assert.equal(field.description, 'Whether it may change.')
  })

  it('reads lists, maps and types of other tables', () => {
    assert.equal(parseOne('  1 a:[]core.Taint | A.')?.type, 'core/v1.Taint')
    assert.equal(parseOne('  1 a:[]Other | A.')?.cardinality, 'list')
    assert.equal(parseOne('  1 a:map<Quantity> | A.')?.cardinality, 'map')
    assert.equal(parseOne('  1 a:Other! | A.')?.type, 'demo/v1.Other')
    assert.equal(parseOne('  1 a:Other! | A.')?.always, true)
  })

  it('knows what Go calls a string of its own type', () => {
    assert.equal(parseOne('  1 a:string(Phase) | A.')?.goType, 'v1.Phase')
    assert.equal(parseOne('  1 a:string(types.UID) | A.')?.goType, 'types.UID')
  })

  it('lets server-side apply follow strategic merge unless a flag says otherwise', () => {
    assert.deepEqual(parseOne('  1 a:[]O merge(name) | A.')?.list, {type: 'map', keys: ['name']})
    assert.deepEqual(parseOne('  1 a:[]string merge | A.')?.list, {type: 'set'})
    assert.deepEqual(parseOne('  1 a:[]O merge(ip) atomic | A.')?.list, {type: 'atomic'})
    assert.deepEqual(parseOne('  1 a:[]O merge(x) keys(x,y) | A.')?.list, {
      type: 'map',
      keys: ['x', 'y'],
    })
    assert.deepEqual(parseOne('  1 a:[]O | A.')?.list, {type: 'atomic'})
    assert.equal(parseOne('  1 a:map<string> | A.')?.list, undefined)
  })

  it('refuses a line that it cannot read', () => {
    assert.throws(() => parseOne('  x name:string | A.'), SyntaxError)
    assert.throws(() => parseOne('  1 name:unknown.Thing | A.'), SyntaxError)
    assert.throws(() => parseTable('demo/v1', '  1 a:string | A.', {}), SyntaxError)
  })

  it('takes a field as a whole where its type says so, unless it is granular', () => {
    const types = parseTable(
      'demo/v1',
      'Ref atomic | R.\n  1 name:string | N.\nHolder | H.\n  1 a:Ref | A.\n  2 b:Ref granular | B.',
      {},
    )
    const find = (name: string) => types.find((type) => type.name === name)!
    const {byName} = linkType(find('demo/v1.Holder'), find)
    assert.equal(byName.get('a')?.atomic, true)
    assert.equal(byName.get('b')?.atomic, false)
  })
})
