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

  it('passes over what is not base64, and no space but blanks and tabs', () => {
    assert.deepEqual(pemBlocks(block('A', '!!!')), [])
    assert.deepEqual(pemBlocks(block('A', 'aG\vk=')), [])
    assert.equal(pemBlocks(block('A', ' aG\tk= '))[0]?.bytes.toString(), 'hi')
  })

  it('reads an empty block as no bytes', () => {
    assert.equal(pemBlocks('-----BEGIN A-----\n-----END A-----\n')[0]?.bytes.length, 0)
  })

  it('reads lines that end as on Windows', () => {
    const [found] = pemBlocks('-----BEGIN A-----\r\naGk=\r\n-----END A-----\r\n')
    assert.equal(found?.bytes.toString(), 'hi')
  })

  it('finds a block after a beginning without an end', () => {
    assert.deepEqual(
      pemBlocks(`-----BEGIN B-----\nnothing\n${block('A', 'aGk=')}`).map(({type}) => type),
      ['A'],
    )
  })

  it('finds no block whose marks stand inside of a line', () => {
    assert.deepEqual(pemBlocks(' -----BEGIN A-----\naGk=\n-----END A-----\n'), [])
    assert.deepEqual(pemBlocks('-----BEGIN A-----\naGk= -----END A-----\n'), [])
  })

  for (const [name, text] of [
    ['beginnings', '-----BEGIN A-----\n'.repeat(200_000)],
    ['ends', '-----END A-----\n'.repeat(200_000)],
    ['beginnings before one end', `${'-----BEGIN A-----\n'.repeat(200_000)}!\n-----END A-----\n`],
    ['marks that start no line', ' -----BEGIN A----- -----END A-----'.repeat(100_000)],
    ['headers', `-----BEGIN A-----\n${'a:\n'.repeat(500_000)}-----END B-----\n`],
  ] as const) {
    // Work that grew with the square of the length would take minutes here.
    it(`takes a text of nothing but ${name}`, () => {
      assert.deepEqual(pemBlocks(text), [])
    })
  }

  it('wants the same type at both ends', () => {
    assert.deepEqual(pemBlocks('-----BEGIN A-----\naGk=\n-----END B-----\n'), [])
  })
})
