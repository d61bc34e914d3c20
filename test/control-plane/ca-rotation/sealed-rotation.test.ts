import assert from 'node:assert/strict'
import {
  generationIn,
  openRotation,
  sealRotation,
  type SharedRotation,
} from '../../../src/control-plane/ca-rotation/sealed-rotation.ts'
import {STARTED} from './support.ts'

const key = Buffer.alloc(32, 7)
const cluster = 'uid-of-kube-system'
const shared: SharedRotation = {
  journal: {...STARTED, shared: 3},
  files: {'old/ca.crt': 'certificate', 'new/ca.key': 'the key of a CA', 'cross.crt': 'cross'},
}
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('what a rotation hands to other servers', () => {
  const secret = sealRotation(shared, {key, cluster})
  const text = (name: string) => Buffer.from(secret.data?.[name] ?? '', 'base64')

  it('is opened with the key of the control plane', () => {
    assert.equal(generationIn(secret), 3)
    assert.deepEqual(openRotation(secret, {key, cluster}), shared)
  })

  it('shows nothing of the keys, and is another text each time', () => {
    assert.ok(!text('sealed').includes('the key of a CA'))
    assert.notDeepEqual(sealRotation(shared, {key, cluster}).data, secret.data)
  })

  const changed = text('sealed')
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20)
  const refusals = [
    {name: 'another key', opened: {secret, key: Buffer.alloc(32, 8), cluster}},
    {name: 'another cluster', opened: {secret, key, cluster: 'another'}},
    {
      name: 'an old one with a higher number',
      opened: {secret: {...secret, data: {...secret.data, generation: base64('4')}}, key, cluster},
    },
    {
      name: 'one that was changed',
      opened: {
        secret: {...secret, data: {...secret.data, sealed: changed.toString('base64')}},
        key,
        cluster,
      },
    },
    {name: 'one without content', opened: {secret: {metadata: {}, data: {}}, key, cluster}},
    {
      name: 'a path out of the folder',
      opened: {
        secret: sealRotation({...shared, files: {'new/../../x.key': ''}}, {key, cluster}),
        key,
        cluster,
      },
    },
  ]
  for (const {name, opened} of refusals) {
    it(`refuses ${name}`, () => {
      assert.throws(() => openRotation(opened.secret, opened), {code: 'CERTS_UNUSABLE'})
    })
  }

  it('is refused if it does not fit into a Secret', () => {
    const files = {'old/ca.crt': 'x'.repeat(800_000)}
    assert.throws(() => sealRotation({...shared, files}, {key, cluster}), {code: 'CONFLICT'})
  })

  it('has no number if it says none', () => {
    for (const data of [undefined, {}, {generation: base64('-1')}, {generation: base64('1e9')}])
      assert.equal(generationIn({metadata: {}, ...(data && {data})}), 0)
  })
})
