import js from '@eslint/js'
import importX from 'eslint-plugin-import-x'
import {createTypeScriptImportResolver} from 'eslint-import-resolver-typescript'
import tseslint from 'typescript-eslint'
import {TOP_FOLDERS, zonesOf} from './eslint.layers.js'

/** Each library has one home. */
const HOMES = {
  '@oclif/core': ['cli', 'commands'],
  chalk: ['cli'],
  'cli-table3': ['cli'],
  inquirer: ['cli'],
  undici: ['client', 'storage/etcd'],
  '@peculiar/x509': ['pki'],
  'reflect-metadata': ['pki'],
  jose: ['bootstrap', 'server/authn'],
  lmdb: ['storage'],
  protobufjs: ['api', 'server'],
}

/** Where a folder has a home inside of it, that one's rules come last and win. */
const NESTED_HOMES = Object.values(HOMES)
  .flat()
  .filter((home) => home.includes('/'))

const homeRules = [...TOP_FOLDERS, ...NESTED_HOMES].map((folder) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: Object.entries(HOMES)
          .filter(([, homes]) => !homes.some((home) => `${folder}/`.startsWith(`${home}/`)))
          .map(([library, homes]) => ({
            group: [library, `${library}/*`],
            message: `${library} is used only in ${homes.join(', ')}`,
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
    // Not projectService, which is for editors: it takes longer for all files.
    languageOptions: {
      parserOptions: {project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname},
    },
    plugins: {'import-x': importX},
    settings: {'import-x/resolver-next': [createTypeScriptImportResolver()]},
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-restricted-paths': [
        'error',
        {basePath: import.meta.dirname, zones: zonesOf('src')},
      ],
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
        {
          selector: "CallExpression[callee.name='setInterval']",
          message: 'use every() of src/runtime.ts, which survives an error',
        },
      ],
    },
  },
  {files: ['src/runtime.ts'], rules: {'no-restricted-syntax': 'off'}},
  ...homeRules,
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
