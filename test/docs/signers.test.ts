import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {SIGNER_RULES, WELL_KNOWN_SIGNERS} from '../../src/csr/signers.ts'

const ROWS = [
  'trust distribution',
  'permitted subjects',
  'permitted extensions',
  'permitted usages',
  'lifetime',
  'CA bit',
  'approval',
]

describe('docs/security.md', () => {
  for (const signer of WELL_KNOWN_SIGNERS) {
    it(`gives subjects, extensions, usages, lifetime, trust and CA bit of ${signer}`, async () => {
      const text = await readFile('docs/security.md', 'utf8')
      const [, section = ''] = text.split(`\n### \`${signer}\`\n`)
      const [list = ''] = section.split('\n### ')
      const lines = Array.from(list.matchAll(/^- ([\w ]+): (.+)$/gm))
      const rows = new Map(lines.map(([, name = '', text = '']) => [name, text]))
      assert.deepEqual([...rows.keys()], ROWS)
      const {usages, commonName, organizations} = SIGNER_RULES[signer]
      for (const usage of [...(usages?.required ?? []), ...(usages?.optional ?? [])]) {
        assert.ok(rows.get('permitted usages')?.includes(`\`${usage}\``), usage)
      }
      const subjects = rows.get('permitted subjects') ?? ''
      if (commonName !== undefined) assert.ok(subjects.includes(commonName.replace('*', '<name>')))
      for (const one of organizations?.required ?? []) assert.ok(subjects.includes(`O=${one}`))
    })
  }
})
