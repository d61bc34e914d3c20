import assert from 'node:assert/strict'
import fc from 'fast-check'

import type {ApiObject} from '../../../src/api/meta.ts'
import type {ServiceSpec} from '../../../src/api/service.ts'
import type {Sketch} from './support.ts'
import {cells, contextOf, createErrors, created, texts, updated} from './support.ts'

const web: Sketch = {spec: {ports: [{port: 80}], selector: {app: 'web'}}}
const taken = (spec: object): ApiObject => ({metadata: {name: 'taken', namespace: 'default'}, spec})
const beside = (...services: ApiObject[]) => contextOf({objects: {services}})

describe('Service', () => {
  it('gets an address of the cluster and the defaults of its type', () => {
    const {spec, status} = created('services', web)
    const {clusterIP, clusterIPs, ...rest} = spec
    assert.match(clusterIP, /^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/)
    assert.deepEqual(clusterIPs, [clusterIP])
    assert.deepEqual(rest, {
      ports: [{port: 80, protocol: 'TCP', targetPort: 80}],
      selector: {app: 'web'},
      sessionAffinity: 'None',
      type: 'ClusterIP',
      internalTrafficPolicy: 'Cluster',
      ipFamilyPolicy: 'SingleStack',
      ipFamilies: ['IPv4'],
    })
    assert.deepEqual(status, {loadBalancer: {}})
  })

  it('gets a port of the nodes where it asks for one', () => {
    const spec = {type: 'NodePort', ports: [{port: 80}, {port: 443, nodePort: 30_443}]}
    const made = created('services', {spec}).spec
    assert.equal(made.externalTrafficPolicy, 'Cluster')
    assert.ok(made.ports[0].nodePort >= 30_000 && made.ports[0].nodePort <= 32_767)
    assert.equal(made.ports[1].nodePort, 30_443)
  })

  it('gets neither where it is a name for something outside', () => {
    const {spec} = created('services', {spec: {type: 'ExternalName', externalName: 'example.com'}})
    assert.deepEqual(spec, {
      type: 'ExternalName',
      externalName: 'example.com',
      sessionAffinity: 'None',
    })
  })

  it('stays without an address where it says None', () => {
    const {spec} = created('services', {spec: {clusterIP: 'None', selector: {a: 'b'}}})
    assert.deepEqual([spec.clusterIP, spec.clusterIPs], ['None', ['None']])
  })

  it('gets an address and ports that no other has', () => {
    fc.assert(
      fc.property(fc.integer({min: 2, max: 12}), (count) => {
        const made: ApiObject[] = []
        for (let index = 0; index < count; index += 1) {
          const spec = {type: 'NodePort', ports: [{port: 80}]}
          made.push(created('services', {metadata: {name: `s${index}`}, spec}, beside(...made)))
        }
        const specs = made.map(({spec}) => spec as ServiceSpec)
        assert.equal(new Set(specs.map(({clusterIP}) => clusterIP)).size, count)
        assert.equal(new Set(specs.map(({ports}) => ports?.[0]?.nodePort)).size, count)
      }),
      {numRuns: 20},
    )
  })

  const refusals: [name: string, spec: object, errors: (string | RegExp)[]][] = [
    ['no ports', {}, ['spec.ports: Required value']],
    [
      'ports without names where there are two',
      {ports: [{port: 80}, {port: 81, name: 'b'}]},
      ['spec.ports[0].name: Required value'],
    ],
    [
      'a repeated name',
      {
        ports: [
          {port: 80, name: 'a'},
          {port: 81, name: 'a'},
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      'a port that is none',
      {ports: [{port: 0, targetPort: 70_000, protocol: 'ICMP'}]},
      [
        'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      'an odd type',
      {type: 'Odd', ports: [{port: 80}]},
      [
        'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'an address for a name outside',
      {type: 'ExternalName', externalName: 'a.example', clusterIPs: ['10.96.0.9']},
      ["spec.clusterIPs: Forbidden: may not be set when `type` is 'ExternalName'"],
    ],
    [
      'an address of another range',
      {ports: [{port: 80}], clusterIP: '192.0.2.1'},
      [
        'spec.clusterIPs: Invalid value: ["192.0.2.1"]: failed to allocate IP 192.0.2.1: the provided IP (192.0.2.1) is not in the valid range. The range of valid IPs is 10.96.0.0/12',
      ],
    ],
    [
      'the address of another service',
      {ports: [{port: 80}], clusterIP: '10.96.0.1'},
      [
        'spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated',
      ],
    ],
    [
      'the address of another service as a second one',
      {ports: [{port: 80}], clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', '10.96.0.1']},
      [
        'spec.clusterIPs: Invalid value: ["10.96.0.9","10.96.0.1"]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'the node port of another service',
      {type: 'NodePort', ports: [{port: 80, nodePort: 30_001}]},
      ['spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated'],
    ],
    [
      'a node port out of range',
      {type: 'NodePort', ports: [{port: 80, nodePort: 80}]},
      [
        'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
      ],
    ],
    [
      'a node port of a service inside',
      {ports: [{port: 80, nodePort: 30_001}]},
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'an address that is none',
      {ports: [{port: 80}], clusterIP: 'x'},
      [/^spec.clusterIPs\[0\]: Invalid value: "x": must be a valid IP address/],
    ],
  ]
  const other = taken({clusterIPs: ['10.96.0.1'], ports: [{port: 1, nodePort: 30_001}]})
  for (const [name, spec, errors] of refusals) {
    it(`refuses ${name}`, () => {
      const found = texts(createErrors('services', {spec}, beside(other)))
      assert.equal(found.length, errors.length, found.join('\n'))
      errors.forEach((wanted, index) => {
        if (wanted instanceof RegExp) assert.match(found[index] ?? '', wanted)
        else assert.equal(found[index], wanted)
      })
    })
  }

  it('keeps what it was given by an update that does not mention it', () => {
    const old = created('services', {spec: {type: 'NodePort', ports: [{port: 80}]}})
    const body = {spec: {type: 'NodePort', ports: [{port: 80}, {port: 81, name: 'b'}]}}
    const {object} = updated('services', old, body, beside(old))
    assert.equal(object.spec.clusterIP, old.spec.clusterIP)
    assert.equal(object.spec.ports[0].nodePort, old.spec.ports[0].nodePort)
    assert.ok(object.spec.ports[1].nodePort)
    assert.deepEqual(object.status, old.status)
  })

  it('keeps its address', () => {
    const old = created('services', {spec: {...(web.spec as object), clusterIP: '10.96.0.9'}})
    const body = {spec: {...(web.spec as object), clusterIP: '10.96.0.10'}}
    assert.deepEqual(texts(updated('services', old, body, beside(old)).errors), [
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.10"]: may not change once set',
    ])
  })

  it('keeps its address against a patch of clusterIP alone', () => {
    const old = created('services', {spec: {...(web.spec as object), clusterIP: '10.96.0.9'}})
    const body = {spec: {...old.spec, clusterIP: '10.96.0.10'}}
    assert.deepEqual(texts(updated('services', old, body, beside(old)).errors), [
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.10"]: may not change once set',
    ])
  })

  it('leaves its node ports and its traffic policy behind when it no longer has a port of the nodes', () => {
    const old = created('services', {spec: {type: 'NodePort', ports: [{port: 80}]}})
    const body = {spec: {...old.spec, type: 'ClusterIP'}}
    const {object, errors} = updated('services', old, body, beside(old))
    assert.deepEqual(errors, [])
    assert.equal(object.spec.externalTrafficPolicy, undefined)
    assert.deepEqual(object.spec.ports, [{port: 80, protocol: 'TCP', targetPort: 80}])
    assert.equal(object.spec.clusterIP, old.spec.clusterIP)
  })

  it('leaves its address behind when it becomes a name for something outside', () => {
    const old = created('services', web)
    const body = {spec: {...old.spec, type: 'ExternalName', externalName: 'example.com'}}
    const {object, errors} = updated('services', old, body, beside(old))
    assert.deepEqual(errors, [])
    const {clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy} = object.spec
    assert.deepEqual([clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy], Array(4).fill(undefined))
  })

  it('says which node port does not fit its new type when the caller asks for another', () => {
    const old = created('services', {spec: {type: 'NodePort', ports: [{port: 80}]}})
    const ports = [{port: 80, nodePort: old.spec.ports[0].nodePort === 30_000 ? 30_001 : 30_000}]
    const body = {spec: {...old.spec, type: 'ClusterIP', ports}}
    assert.deepEqual(texts(updated('services', old, body, beside(old)).errors), [
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ])
  })

  const shown: [sketch: Sketch, external: string, ports: string][] = [
    [{spec: {type: 'ClusterIP', ports: [{port: 443, protocol: 'TCP'}]}}, '<none>', '443/TCP'],
    [
      {spec: {type: 'NodePort', ports: [{port: 80, nodePort: 30_080, protocol: 'TCP'}]}},
      '<none>',
      '80:30080/TCP',
    ],
    [{spec: {type: 'LoadBalancer'}}, '<pending>', '<none>'],
    [
      {
        spec: {type: 'LoadBalancer', externalIPs: ['192.0.2.9']},
        status: {loadBalancer: {ingress: [{hostname: 'b'}, {ip: '192.0.2.1'}]}},
      },
      '192.0.2.1,b,192.0.2.9',
      '<none>',
    ],
    [{spec: {type: 'ExternalName', externalName: 'example.com'}}, 'example.com', '<none>'],
  ]
  for (const [sketch, external, ports] of shown) {
    it(`shows ${JSON.stringify(sketch)} as ${external} and ${ports}`, () => {
      const row = cells('services', sketch)
      assert.deepEqual([row['External-IP'], row['Port(s)']], [external, ports])
    })
  }

  it('shows its selector in order', () => {
    assert.equal(cells('services', {spec: {selector: {b: '2', a: '1'}}}).Selector, 'a=1,b=2')
    assert.equal(cells('services', {spec: {clusterIP: 'None'}})['Cluster-IP'], 'None')
  })
})
