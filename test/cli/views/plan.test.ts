import assert from 'node:assert/strict'
import {planView} from '../../../src/cli/views/plan.ts'

describe('what a dry run prints', () => {
  const {isTTY, columns} = process.stdout
  afterEach(() => Object.assign(process.stdout, {isTTY, columns}))
  const change = `create "admin.conf" in /var/lib/trustadm/admin.conf: ${'it expires '.repeat(4)}soon`

  it('is broken between words, to fit a terminal', async () => {
    Object.assign(process.stdout, {isTTY: true, columns: 80})
    const text = await planView.table({
      dir: '/var/lib/trustadm',
      changes: [{phase: 'kubeconfig', change}],
    })
    Object.assign(process.stdout, {isTTY, columns})
    const lines = text.split('\n')
    assert.ok(lines.every((line) => line.length < 80))
    assert.equal(
      lines
        .map((line) => line.trim())
        .join(' ')
        .trim(),
      `[kubeconfig] would ${change}`,
    )
  })

  it('is one line for each change elsewhere', async () => {
    Object.assign(process.stdout, {isTTY: false})
    const text = await planView.table({
      dir: '/var/lib/trustadm',
      changes: [{phase: 'certs', change}],
    })
    assert.equal(text, `[certs] would ${change}\n`)
  })
})
