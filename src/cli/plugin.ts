import type {Command} from '@oclif/core/command'
import type {Interfaces} from '@oclif/core'
import {VERSION} from '../version.ts'
import type {CommandTable, Manifest} from './manifest.ts'

const NAME = 'trustadm'

const TOPICS = {
  certificate: {
    description: "certificate requests of a cluster, and the control plane's own certificates",
  },
  'init:phase': {description: 'single steps of init'},
  kubeconfig: {description: 'kubeconfig files for users'},
  token: {description: 'bootstrap tokens, with which machines join a cluster'},
}

const PACKAGE: Interfaces.PJSON = {
  name: NAME,
  version: VERSION,
  oclif: {
    bin: NAME,
    dirname: NAME,
    topicSeparator: ' ',
    topics: TOPICS,
    additionalHelpFlags: ['-h'],
    exitCodes: {failedFlagParsing: 2, failedFlagValidation: 2, invalidArgsSpec: 2},
    helpOptions: {maxWidth: 110, flagSortOrder: 'none'},
  },
}

/** The only plugin, made from the manifest of the build, so that oclif neither searches folders nor loads all commands. */
export function createPlugin(
  root: string,
  commands: CommandTable,
  manifest: Manifest,
): Interfaces.Plugin {
  const loadables = Object.entries(manifest).map(([id, description]): Command.Loadable => ({
    ...description,
    pluginName: NAME,
    pluginType: 'core',
    load: async () => {
      const loaded = (await commands[id]?.())?.default
      if (loaded === undefined) throw new Error(`the command ${id} is not part of the program`)
      loaded.id = id
      return loaded
    },
  }))
  return {
    _base: '',
    alias: NAME,
    name: NAME,
    version: VERSION,
    type: 'core',
    moduleType: 'commonjs',
    root,
    isRoot: true,
    valid: true,
    hasManifest: true,
    commandsDir: undefined,
    options: {root},
    hooks: {},
    pjson: PACKAGE,
    topics: Object.entries(TOPICS).map(([name, {description}]) => ({name, description})),
    commands: loadables,
    commandIDs: loadables.map(({id}) => id),
    findCommand: (async (id: string) =>
      loadables.find((one) => one.id === id)?.load()) as Interfaces.Plugin['findCommand'],
    load: () => Promise.resolve(),
  }
}
