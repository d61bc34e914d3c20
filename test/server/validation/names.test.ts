import assert from 'node:assert/strict'
import fc from 'fast-check'

import {
  configKey,
  dns1035Label,
  dnsLabel,
  dnsLabelName,
  dnsSubdomain,
  dnsSubdomainName,
  labelValue,
  pathSegmentName,
  portName,
  qualifiedName,
} from '../../../src/server/validation/names.ts'

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const CONFIG_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const cases: [check: (value: string) => string[], value: string, problems: string[]][] = [
  [dnsSubdomain, 'example.com', []],
  [dnsSubdomain, 'Bad_Name', [SUBDOMAIN]],
  [dnsSubdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
  [dnsSubdomain, 'name\n', [SUBDOMAIN]],
  [dnsLabel, 'a-b', []],
  [dnsLabel, 'a.b', ['must not contain dots']],
  [dnsLabel, 'A', [LABEL]],
  [dnsLabel, 'a'.repeat(64), ['must be no more than 63 characters']],
  [dns1035Label, 'a1', []],
  [qualifiedName, 'app', []],
  [qualifiedName, 'example.com/My_App.1', []],
  [qualifiedName, '', ['name part must be non-empty', NAME_PART]],
  [qualifiedName, '/x', ['prefix part must be non-empty']],
  [qualifiedName, 'A/x', [`prefix part ${SUBDOMAIN}`]],
  [qualifiedName, 'a b', [NAME_PART]],
  [qualifiedName, 'x'.repeat(64), ['name part must be no more than 63 bytes']],
  [qualifiedName, `${'x'.repeat(254)}/y`, ['prefix part must be no more than 253 bytes']],
  [
    qualifiedName,
    'a/b/c',
    [
      `${NAME_PART.replace('name part', 'a valid label key')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  [labelValue, '', []],
  [labelValue, 'x'.repeat(64), ['must be no more than 63 bytes']],
  [labelValue, 'front', []],
  [labelValue, 'a b', [LABEL_VALUE]],
  [configKey, 'a.b-c_D', []],
  [configKey, 'a/b', [CONFIG_KEY]],
  [configKey, '..', ["must not be '..'"]],
  [configKey, '..a', ["must not start with '..'"]],
  [portName, 'http', []],
  [
    portName,
    '-',
    ['must contain at least one letter (a-z)', 'must not begin or end with a hyphen'],
  ],
]

describe('names', () => {
  for (const [check, value, problems] of cases) {
    const shown = value.length > 40 ? `${value.length} characters` : JSON.stringify(value)
    it(`${problems.length === 0 ? 'takes' : 'refuses'} ${shown} as ${check.name}`, () => {
      assert.deepEqual(check(value), problems)
    })
  }

  it('asks for a letter first where DNS-1035 does', () => {
    assert.match(dns1035Label('1a').join(), /^a DNS-1035 label must consist of/)
  })

  it('takes a generateName that ends in a dash', () => {
    assert.deepEqual(dnsSubdomainName('gen-', true), [])
    assert.equal(dnsSubdomainName('gen-', false).length, 1)
    assert.deepEqual(dnsLabelName('gen-', true), [])
  })

  it('takes any name that a path can carry for RBAC objects and requests', () => {
    assert.deepEqual(pathSegmentName('system:node-Bootstrapper_x', false), [])
    assert.deepEqual(pathSegmentName('..', false), ["may not be '..'"])
    assert.deepEqual(pathSegmentName('..', true), [])
    assert.deepEqual(pathSegmentName('a/b%c', false), [
      "may not contain '/'",
      "may not contain '%'",
    ])
  })

  it('takes as label only what is a subdomain too', () => {
    fc.assert(
      fc.property(fc.string({unit: fc.constantFrom('a', '0', '-', '.', 'A', '_')}), (value) => {
        if (dnsLabel(value).length === 0) assert.deepEqual(dnsSubdomain(value), [])
      }),
    )
  })
})
