import {ALL_VERBS} from '../../../src/server/kernel/resource.ts'
import type {Resource, Verb} from '../../../src/server/kernel/resource.ts'

const READ_WRITE: Verb[] = ['update', 'patch', 'get']

/** A table with one of everything that the documents tell apart. */
export const SAMPLE_RESOURCES: Resource[] = [
  {
    group: 'machine.openshift.io',
    version: 'v1beta1',
    plural: 'machines',
    singular: 'machine',
    kind: 'Machine',
    namespaced: true,
    verbs: ALL_VERBS,
    type: 'machine/v1beta1.Machine',
    custom: true,
    strategy: {},
  },
  {
    group: '',
    version: 'v1',
    plural: 'serviceaccounts',
    singular: 'serviceaccount',
    kind: 'ServiceAccount',
    shortNames: ['sa'],
    namespaced: true,
    verbs: ALL_VERBS,
    type: 'core/v1.ServiceAccount',
    strategy: {},
    subresources: {
      token: {
        verbs: ['create'],
        kind: {
          group: 'authentication.k8s.io',
          version: 'v1',
          kind: 'TokenRequest',
          type: 'authentication/v1.TokenRequest',
        },
      },
    },
  },
  {
    group: '',
    version: 'v1',
    plural: 'configmaps',
    singular: 'configmap',
    kind: 'ConfigMap',
    shortNames: ['cm'],
    categories: ['all'],
    namespaced: true,
    verbs: ['watch', 'update', 'create', 'get', 'list', 'patch', 'delete', 'deletecollection'],
    type: 'core/v1.ConfigMap',
    strategy: {},
  },
  {
    group: 'certificates.k8s.io',
    version: 'v1',
    extraVersions: [{version: 'v1beta1', type: 'certificates/v1beta1.CertificateSigningRequest'}],
    plural: 'certificatesigningrequests',
    singular: 'certificatesigningrequest',
    kind: 'CertificateSigningRequest',
    shortNames: ['csr'],
    namespaced: false,
    verbs: ALL_VERBS,
    type: 'certificates/v1.CertificateSigningRequest',
    strategy: {},
    subresources: {status: {verbs: READ_WRITE}, approval: {verbs: READ_WRITE}},
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    verbs: ['create'],
    type: 'authorization/v1.SelfSubjectAccessReview',
    strategy: {},
    review: (object) => object,
  },
]
