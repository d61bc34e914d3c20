import {failure, invalid, type Chapter} from '../step.ts'

const PATH = '/api/v1/namespaces/$ns/services'
const MERGE = 'application/merge-patch+json'

/** What a service shows of itself, without what it was given by chance. */
const spec = (more: object) => ({
  ports: [{protocol: 'TCP', port: 80, targetPort: 80}],
  sessionAffinity: 'None',
  ...more,
})
const inside = {
  clusterIP: '10.96.77.7',
  clusterIPs: ['10.96.77.7'],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
}

export const services: Chapter = {
  name: 'services that change',
  steps: [
    {
      says: 'creates a service by PUT',
      ask: `PUT ${PATH}/web`,
      body: {
        metadata: {name: 'web'},
        spec: {type: 'NodePort', clusterIP: '10.96.77.7', ports: [{port: 80, nodePort: 30_777}]},
      },
      part: 'spec',
      answer: {
        code: 201,
        body: spec({
          ...inside,
          type: 'NodePort',
          ports: [{protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30_777}],
          externalTrafficPolicy: 'Cluster',
          internalTrafficPolicy: 'Cluster',
        }),
      },
    },
    {
      says: 'drops the port of the nodes with the type that had it',
      ask: `PATCH ${PATH}/web`,
      type: MERGE,
      body: {spec: {type: 'ClusterIP'}},
      part: 'spec',
      answer: {
        code: 200,
        body: spec({...inside, type: 'ClusterIP', internalTrafficPolicy: 'Cluster'}),
      },
    },
    {
      says: 'refuses a port of the nodes that the type does not have',
      ask: `PATCH ${PATH}/web`,
      type: MERGE,
      body: {spec: {ports: [{port: 80, nodePort: 30_777}]}},
      answer: invalid('Service', 'web', [
        'spec.ports[0].nodePort',
        'FieldValueForbidden',
        "Forbidden: may not be used when `type` is 'ClusterIP'",
      ]),
    },
    {
      says: 'keeps the address',
      ask: `PATCH ${PATH}/web`,
      type: MERGE,
      body: {spec: {clusterIP: '10.96.77.8'}},
      answer: invalid('Service', 'web', [
        'spec.clusterIPs[0]',
        'FieldValueInvalid',
        'Invalid value: ["10.96.77.8"]: may not change once set',
      ]),
    },
    {
      says: 'drops the address with the type that had it',
      ask: `PATCH ${PATH}/web`,
      type: MERGE,
      body: {spec: {type: 'ExternalName', externalName: 'example.com'}},
      part: 'spec',
      answer: {
        code: 200,
        body: spec({
          type: 'ExternalName',
          externalName: 'example.com',
          internalTrafficPolicy: 'Cluster',
        }),
      },
    },
    {
      says: 'needs the name in what replaces it',
      ask: `PUT ${PATH}/web`,
      body: {metadata: {}, spec: {}},
      answer: failure(
        400,
        'BadRequest',
        'the name of the object (web based on URL) was undeterminable: name must be provided',
      ),
    },
    {
      says: 'does not become another kind',
      ask: `PATCH ${PATH}/web?fieldManager=x`,
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'web'}},
      answer: failure(400, 'BadRequest', 'invalid object type: /v1, Kind=Pod'),
    },
  ],
}
