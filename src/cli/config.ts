import type {Interfaces} from '@oclif/core'
import type {Command} from '@oclif/core/command'
import {Config} from '@oclif/core/config'
import {VERSION} from '../version.ts'
import {loadCommand, type CommandTable, type Manifest} from './manifest.ts'

export interface Program {
  /** The folder of the program's own files. */
  root: string
  commands: CommandTable
  /** Reads the descriptions of all commands. */
  manifest: () => Manifest
}

const NAME = 'trustadm'

const TOPICS = {
  'bootstrap-credential': {
    description: 'long-lived, revocable credentials with which a fleet of machines joins',
  },
  ca: {description: "the control plane's CAs"},
  'ca:rotate': {description: 'replace every CA while the control plane works'},
  certificate: {
    description: "certificate requests of a cluster, and the control plane's own certificates",
  },
  'init:phase': {description: 'single steps of init'},
  kubeconfig: {description: 'kubeconfig files for users'},
  machine: {description: 'the inventory of machines that may join'},
  node: {description: 'nodes, and the node of this machine'},
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
function createPlugin({root, commands, manifest}: Program): Interfaces.Plugin {
  const loadables = Object.entries(manifest()).map(([id, description]): Command.Loadable => ({
    ...description,
    pluginName: NAME,
    pluginType: 'core',
    load: () => loadCommand(id, commands),
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

/** oclif's configuration, without the theme file that it would look for. */
class TrustConfig extends Config {
  override loadTheme(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
}

/** The program as oclif describes it: for help. A command that runs needs none of it. */
export async function loadConfig(program: Program): Promise<Config> {
  const plugin = createPlugin(program)
  const plugins = new Map([[plugin.name, plugin]])
  const config = new TrustConfig({root: program.root, pjson: plugin.pjson, plugins})
  await config.load()
  return config
}
