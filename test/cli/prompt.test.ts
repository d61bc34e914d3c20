import assert from 'node:assert/strict'
import {questionText} from '../../src/cli/prompt.ts'

const WORDS = 'pairing words: ambient cathode poultry bonsai'
const QUESTION = `node-csr-${'x'.repeat(43)}: system:bootstrap:abcdef requests CN=system:node:a from kubernetes.io/kubelet-serving; ${WORDS}`

describe('the text of a question', () => {
  for (const columns of [80, 120]) {
    it(`breaks between words, and leaves room for the answer, in ${columns} columns`, () => {
      const lines = questionText(QUESTION, {isTTY: true, columns}).split('\n')
      assert.ok(lines.length > 1)
      // A mark is before the first line.
      assert.ok(lines.every((line, index) => line.length + (index === 0 ? 2 : 0) < columns - 8))
      assert.equal(lines.map((line) => line.trim()).join(' '), QUESTION)
    })
  }

  it('is one line without a terminal, and cannot move the cursor', () => {
    const text = questionText(`${QUESTION}\u001b[2J`, {isTTY: false, columns: 80})
    assert.equal(text, String.raw`${QUESTION}\u{1b}[2J`)
  })
})
