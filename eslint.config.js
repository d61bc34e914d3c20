import js from '@eslint/js'
import importX from 'eslint-plugin-import-x'
import {createTypeScriptImportResolver} from 'eslint-import-resolver-typescript'
import tseslint from 'typescript-eslint'

/** Lower layers first. A folder imports only from layers before its own, never from a sibling on its own layer. */
const LAYERS = [
  ['errors.ts', 'runtime.ts', 'version.ts'],
  ['pki', 'api'],
  ['bootstrap', 'csr', 'trust'],
  ['storage', 'client'],
  ['discovery', 'controllers', 'server'],
  ['node'],
  ['control-plane'],
  ['cli'],
  ['commands'],
]

const layerZones = LAYERS.flatMap((layer, level) =>
  layer.flatMap((target) => {
    const above = LAYERS.slice(level + 1).flat()
    const siblings = level === 0 ? [] : layer.filter((other) => other !== target)
    return [...above, ...siblings].map((from) => ({
      target: `./src/${target}`,
      from: `./src/${from}`,
      message: `${target} may not import from ${from}: see the layers in docs/architecture.md`,
    }))
  }),
)

/** Each library has one home. */
const HOMES = {
  '@oclif/core': ['cli', 'commands'],
  chalk: ['cli'],
  'cli-table3': ['cli'],
  inquirer: ['cli'],
  undici: ['client'],
  '@peculiar/x509': ['pki'],
  'reflect-metadata': ['pki'],
  jose: ['bootstrap', 'server/authn'],
  lmdb: ['storage'],
  protobufjs: ['api', 'server'],
}

const homeRules = Object.entries(HOMES).map(([library, homes]) => ({
  files: ['src/**/*.ts'],
  ignores: homes.map((home) => `src/${home}/**`),
  library,
}))

const forbiddenByFolder = [
  'api',
  'pki',
  'bootstrap',
  'csr',
  'trust',
  'storage',
  'client',
  'discovery',
  'controllers',
  'server',
  'node',
  'control-plane',
  'cli',
  'commands',
].map((folder) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: homeRules
          .filter(({library}) => !HOMES[library].some((home) => home.split('/')[0] === folder))
          .map(({library}) => ({
            group: [library, `${library}/*`],
            message: `${library} is used only in ${HOMES[library].join(', ')}`,
          })),
      },
    ],
  },
}))

export default tseslint.config(
  {ignores: ['dist', 'coverage', 'node_modules', '.clients']},
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {parserOptions: {projectService: true, tsconfigRootDir: import.meta.dirname}},
    plugins: {'import-x': importX},
    settings: {'import-x/resolver-next': [createTypeScriptImportResolver()]},
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': ['error', {zones: layerZones}],
      '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true}],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        {argsIgnorePattern: '^_', varsIgnorePattern: '^_'},
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'take the time from a Clock',
        },
        {
          selector: "MemberExpression[object.name='Date'][property.name='now']",
          message: 'take the time from a Clock',
        },
        {
          selector: "MemberExpression[object.name='process'][property.name='exit']",
          message: 'only bin/ ends the process',
        },
      ],
    },
  },
  {files: ['src/runtime.ts'], rules: {'no-restricted-syntax': 'off'}},
  ...forbiddenByFolder,
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'soak/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
    },
  },
  {
    files: ['**/*.js'],
    languageOptions: {
      globals: {process: 'readonly', console: 'readonly', URL: 'readonly', Buffer: 'readonly'},
    },
  },
  {
    files: ['bin/*.js'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: {require: 'readonly', module: 'writable', __dirname: 'readonly'},
    },
  },
)
