import assert from 'node:assert/strict'

import {pemBlocks} from '../../src/pki/pem-blocks.ts'

const block = (type: string, body: string) =>
  `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`

describe('PEM blocks', () => {
  it('finds every block, whatever stands around them', () => {
    const text = `hello\n${block('A', 'aGk=')}between\n${block('B', 'eW8=')}`
    const found = pemBlocks(text).map(({type, bytes}) => [type, bytes.toString()])
    assert.deepEqual(found, [
      ['A', 'hi'],
      ['B', 'yo'],
    ])
  })

  it('says when a block has headers', () => {
    const [found] = pemBlocks(block('A', 'Proc-Type: 4,ENCRYPTED\n\naGk='))
    assert.equal(found?.hasHeaders, true)
    assert.equal(found.bytes.toString(), 'hi')
  })

  it('passes over what is not base64', () => {
    assert.deepEqual(pemBlocks(block('A', '!!!')), [])
  })

  it('reads an empty block as no bytes', () => {
    assert.equal(pemBlocks('-----BEGIN A-----\n-----END A-----\n')[0]?.bytes.length, 0)
  })

  it('wants the same type at both ends', () => {
    assert.deepEqual(pemBlocks('-----BEGIN A-----\naGk=\n-----END B-----\n'), [])
  })
})
