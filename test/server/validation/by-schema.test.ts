import assert from 'node:assert/strict'

import {validateBySchema} from '../../../src/server/validation/by-schema.ts'

const texts = (type: string, object: object) =>
  validateBySchema(type, {metadata: {}, ...object}).map(
    ({field, message}) => `${field}: ${message}`,
  )
const inPod = (container: object, spec: object = {}) =>
  texts('core/v1.Pod', {spec: {containers: [{name: 'c', ...container}], ...spec}})

describe('rules of the schema table', () => {
  it('need a text, a list and a reference to have a value', () => {
    assert.deepEqual(texts('core/v1.Pod', {spec: {containers: []}}), [
      'spec.containers: Required value',
    ])
    assert.deepEqual(inPod({name: '', env: [{name: ''}], volumeMounts: [{name: 'v'}]}), [
      'spec.containers[0].name: Required value',
      'spec.containers[0].env[0].name: Required value',
      'spec.containers[0].volumeMounts[0].mountPath: Required value',
    ])
    const scaleIO = {gateway: 'g', system: 's', secretRef: null}
    assert.deepEqual(inPod({}, {volumes: [{name: 'v', scaleIO}]}), [
      'spec.volumes[0].scaleIO.secretRef: Required value',
    ])
  })

  it('look into parts that share the fields of their parent', () => {
    assert.deepEqual(
      inPod({livenessProbe: {exec: {}, httpGet: {port: 80, httpHeaders: [{value: 'x'}]}}}),
      ['spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name: Required value'],
    )
    assert.deepEqual(inPod({}, {volumes: [{name: 'v', hostPath: {}}]}), [
      'spec.volumes[0].hostPath.path: Required value',
    ])
  })

  it('take what Kubernetes takes empty, though its documents call it required', () => {
    const httpGet = {port: 80, httpHeaders: [{name: 'X', value: ''}]}
    const securityContext = {sysctls: [{name: 'a', value: ''}]}
    assert.deepEqual(inPod({livenessProbe: {httpGet}}, {securityContext}), [])
    assert.deepEqual(texts('storage/v1.CSINode', {spec: {drivers: null}}), [])
    const spec = {tokenRequests: [{audience: ''}]}
    assert.deepEqual(texts('storage/v1.CSIDriver', {spec}), [])
    const azureFile = {secretName: 's', shareName: 'n', secretNamespace: null}
    assert.deepEqual(texts('core/v1.PersistentVolume', {spec: {azureFile}}), [])
  })

  it('know the values of a type, one or a list', () => {
    assert.deepEqual(inPod({ports: [{containerPort: 80, protocol: 'ICMP'}]}, {dnsPolicy: 'Odd'}), [
      'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      'spec.dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ])
    const spec = {volumeLifecycleModes: ['Persistent', 'Odd']}
    assert.deepEqual(texts('storage/v1.CSIDriver', {spec}), [
      'spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Persistent", "Ephemeral"',
    ])
    const service = {spec: {ipFamilies: ['IPv4', 'IPv5'], ipFamilyPolicy: 'Odd'}}
    assert.deepEqual(texts('core/v1.Service', service), [
      'spec.ipFamilies: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilyPolicy: Unsupported value: "Odd": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ])
  })

  it('leave metadata, selectors and the status to others', () => {
    const spec = {selector: {matchExpressions: [{}]}}
    const status = {conditions: [{}]}
    const metadata = {ownerReferences: [{}]}
    assert.deepEqual(texts('core/v1.PersistentVolumeClaim', {metadata, spec, status}), [])
  })

  it('report every error of a large object', () => {
    const containers = Array.from({length: 10_000}, () => ({env: [{}], volumeMounts: [{}, {}]}))
    assert.equal(texts('core/v1.Pod', {spec: {containers}}).length, 60_000)
  })
})
