import {KINDS, KUBEADM, OTHER_KUBEADM_KINDS, OURS} from './config-kinds.ts'
import {readDocuments} from './document-reader.ts'
import type {WantedToken} from '../tokens/create.ts'
import type {Choices} from './settings.ts'

/** What a configuration file says. */
export interface FileChoices {
  choices: Choices
  dir?: string
  skipPhases?: string[]
  generatedAuthorities?: string[]
  joinedControlPlane?: boolean
  bootstrapTokens?: WantedToken[]
  /** The documents that were read, each as `apiVersion kind`. */
  documents: string[]
  /** Parts of the file that have no effect here. */
  warnings: string[]
}

const EXPECTED = `a configuration holds InitConfiguration or ClusterConfiguration of ${KUBEADM}, or ${OURS.kind} of ${OURS.apiVersion}`

/** Reads kubeadm's documents and ours. Unknown fields are refused, as a mistake; fields without effect are reported. */
export function parseConfigFile(content: string, source: string): FileChoices {
  const {values, documents, warnings} = readDocuments(content, source, {
    kinds: KINDS,
    kubeadm: KUBEADM,
    ours: OURS.apiVersion,
    otherKinds: OTHER_KUBEADM_KINDS,
    expected: EXPECTED,
  })
  const {dir, skipPhases, generatedAuthorities, joinedControlPlane, bootstrapTokens, ...choices} =
    values
  return {
    choices: choices as Choices,
    ...(dir === undefined ? {} : {dir: dir as string}),
    ...(skipPhases === undefined ? {} : {skipPhases: skipPhases as string[]}),
    ...(generatedAuthorities === undefined
      ? {}
      : {generatedAuthorities: generatedAuthorities as string[]}),
    ...(joinedControlPlane === true && {joinedControlPlane}),
    ...(bootstrapTokens === undefined ? {} : {bootstrapTokens: bootstrapTokens as WantedToken[]}),
    documents,
    warnings,
  }
}
