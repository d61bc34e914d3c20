import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {joinView} from '../../src/cli/views/join.ts'
import {initPhases} from '../../src/control-plane/init/init.ts'
import {joinPhases} from '../../src/node/join/join.ts'

const ENTITIES: Record<string, string> = {quot: '"', '#x27': "'", lt: '<', gt: '>', amp: '&'}

/** The words of a picture, as they can be read. */
async function wordsOf(name: string): Promise<string> {
  const svg = await readFile(new URL(`../../docs/images/${name}.svg`, import.meta.url), 'utf8')
  return svg
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&([^;]+);/g, (_, entity: string) => ENTITIES[entity] ?? '?')
    .replaceAll(/\s+/g, ' ')
}

describe('the pictures of the README', () => {
  for (const [name, phases] of [
    ['init', initPhases()],
    ['join', joinPhases()],
  ] as const) {
    it(`show the phases of ${name} in their own words`, async () => {
      const words = await wordsOf(name)
      for (const phase of phases) assert.ok(words.includes(`✔ ${phase.name} ${phase.summary}`))
    })
  }

  it('show what join prints at its end', async () => {
    const text = await joinView.table({
      nodeName: 'worker-1',
      certificate: '/var/lib/trustadm-node/pki/kubelet-client-current.pem',
      kubeconfig: '/var/lib/trustadm-node/kubelet.conf',
      notAfter: null,
      clusterInfo: null,
      dir: '/var/lib/trustadm-node',
      certDir: '/var/lib/trustadm-node/pki',
    })
    const [, end = ''] = /(Use it:.*)/s.exec(text) ?? []
    assert.ok((await wordsOf('join')).includes(end.replaceAll(/\s+/g, ' ').trim()))
  })
})
