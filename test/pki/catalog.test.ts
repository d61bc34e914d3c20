import assert from 'node:assert/strict'
import {catalogFor, type CatalogContext} from '../../src/pki/catalog.ts'

const context: CatalogContext = {nodeName: 'node1', advertiseAddress: '192.0.2.10'}

function apiServerNames(overrides: Partial<CatalogContext> = {}) {
  const leaf = catalogFor().leaves.find(({id}) => id === 'apiserver')
  assert.ok(leaf)
  return leaf.names({...context, ...overrides})
}

describe('the catalog', () => {
  it('has each id once, and a CA for every leaf', () => {
    const {authorities, leaves} = catalogFor({externalEtcd: true})
    const ids = [...authorities, ...leaves].map(({id}) => id)
    assert.equal(new Set(ids).size, ids.length)
    const known = new Set(authorities.map(({id}) => id))
    assert.ok(leaves.every(({authority}) => known.has(authority)))
  })

  it('has etcd only if an etcd is used', () => {
    const isEtcd = ({id}: {id: string}) => id.includes('etcd')
    assert.ok(!catalogFor().authorities.some(isEtcd) && !catalogFor().leaves.some(isEtcd))
    assert.ok(catalogFor({externalEtcd: true}).authorities.some(isEtcd))
  })

  it("has kubeadm's subjects", () => {
    const subjects = catalogFor().leaves.map(({id, subject}) => [
      id,
      subject.commonName,
      ...(subject.organizations ?? []),
    ])
    assert.deepEqual(subjects, [
      ['apiserver', 'kube-apiserver'],
      ['apiserver-kubelet-client', 'kube-apiserver-kubelet-client', 'kubeadm:cluster-admins'],
      ['front-proxy-client', 'front-proxy-client'],
      ['admin.conf', 'kubernetes-admin', 'kubeadm:cluster-admins'],
      ['super-admin.conf', 'kubernetes-super-admin', 'system:masters'],
      ['controller-manager.conf', 'system:kube-controller-manager'],
      ['scheduler.conf', 'system:kube-scheduler'],
    ])
  })

  it('names the API server as clients inside and outside of the cluster call it', () => {
    assert.deepEqual(apiServerNames(), {
      dns: [
        'node1',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
        'localhost',
      ],
      ips: ['10.96.0.1', '192.0.2.10', '127.0.0.1', '::1'],
      emails: [],
      uris: [],
    })
  })

  it('adds names that an operator asks for, each once', () => {
    const {dns, ips} = apiServerNames({extraNames: ['*.Example.com', 'localhost', '2001:DB8:0::5']})
    assert.deepEqual(dns.slice(-2), ['localhost', '*.example.com'])
    assert.deepEqual(ips.slice(-1), ['2001:db8::5'])
  })

  for (const [endpoint, host] of [
    ['lb.example.com', 'lb.example.com'],
    ['lb.example.com:6443', 'lb.example.com'],
    ['198.51.100.1:443', '198.51.100.1'],
    ['[2001:db8::9]:6443', '2001:db8::9'],
    ['2001:db8::9', '2001:db8::9'],
  ] as const) {
    it(`takes the host of the endpoint ${endpoint}`, () => {
      const {dns, ips} = apiServerNames({controlPlaneEndpoint: endpoint})
      assert.equal([...dns, ...ips].filter((name) => name === host).length, 1)
    })
  }

  for (const bad of [
    '',
    'a b',
    '-a',
    'a..b',
    '300.1.1.1:x',
    `${'a'.repeat(64)}.com`,
    'fe80::1%eth0',
    'a.*.b',
  ]) {
    it(`refuses "${bad}" as a name`, () => {
      assert.throws(() => apiServerNames({extraNames: [bad]}), {code: 'USAGE'})
    })
  }
})
