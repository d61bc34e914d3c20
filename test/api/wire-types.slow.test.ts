import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {basename, join} from 'node:path'
import ts from 'typescript'
import {allTypes, type FieldSchema, type TypeSchema} from '../../src/api/schema/index.ts'

const ROOT = join(import.meta.dirname, '../../src')

/** The package of the schema table that a file's types are of; core/v1 for all others. */
const PACKAGES: Record<string, string> = {
  authentication: 'authentication/v1',
  authorization: 'authorization/v1',
  certificates: 'certificates/v1',
  coordination: 'coordination/v1',
  machine: 'machine/v1beta1',
  meta: 'meta/v1',
  rbac: 'rbac/v1',
  storage: 'storage/v1',
}

/** Types that the table has under another name, or as several that are alike. */
const NAMES: Record<string, string[]> = {
  'core/v1.Container': ['Container', 'EphemeralContainer'],
  'core/v1.DownwardItem': ['DownwardAPIVolumeFile'],
  'core/v1.EnvironmentVariable': ['EnvVar'],
  'core/v1.HttpGet': ['HTTPGetAction'],
  'core/v1.RuntimeClass': ['node/v1.RuntimeClass'],
  'authentication/v1.ReviewedUser': ['UserInfo'],
  'authorization/v1.AccessAttributes': ['SelfSubjectAccessReviewSpec', 'SubjectAccessReviewSpec'],
  'authorization/v1.SelectorAttributes': ['FieldSelectorAttributes', 'LabelSelectorAttributes'],
  'authorization/v1.SelectorRequirement': [
    'meta/v1.FieldSelectorRequirement',
    'meta/v1.LabelSelectorRequirement',
  ],
}

/** What no message of the table is: envelopes, and parts that several messages share. */
const NOT_IN_TABLE = new Set([
  'ApiList',
  'ApiObject',
  'FieldsV1',
  'HeldObject',
  'ListMeta',
  'SecretUser',
  'Status',
  'StatusCause',
  'StatusDetails',
  'UserInfo',
  'WatchEvent',
])

/** Objects outside of api/: parts that any kind may have, and kinds that this server does not serve. */
const ELSEWHERE = ['EndpointSlice', 'RbacObject', 'ServiceCidr', 'WithStatus']

const table = new Map(allTypes().map((type) => [type.name, type]))

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
}

function interfacesOf(file: string): ts.InterfaceDeclaration[] {
  return parse(file).statements.filter(ts.isInterfaceDeclaration)
}

const SCALARS: Record<string, (kind: ts.SyntaxKind) => boolean> = {
  bool: (kind) => kind === ts.SyntaxKind.BooleanKeyword,
  int32: (kind) => kind === ts.SyntaxKind.NumberKeyword,
  int64: (kind) => kind === ts.SyntaxKind.NumberKeyword,
  double: (kind) => kind === ts.SyntaxKind.NumberKeyword,
  IntOrString: (kind) => isText(kind) || kind === ts.SyntaxKind.NumberKeyword,
  Quantity: (kind) => isText(kind) || kind === ts.SyntaxKind.NumberKeyword,
  ExtraValue: (kind) => kind === ts.SyntaxKind.ArrayType,
  FieldsV1: (kind) => kind === ts.SyntaxKind.TypeReference,
  RawExtension: () => true,
}

/** A literal, and the empty object type that keeps a union of literals open, are texts too. */
const isText = (kind: ts.SyntaxKind) =>
  [ts.SyntaxKind.StringKeyword, ts.SyntaxKind.LiteralType, ts.SyntaxKind.IntersectionType].includes(
    kind,
  )

/** Compares the hand-written types of one package with the table. */
class Comparison {
  readonly problems: string[] = []
  readonly #package: string

  constructor(packageName: string) {
    this.#package = packageName
  }

  interface(declaration: ts.InterfaceDeclaration): void {
    const {name, members} = declaration
    if (NOT_IN_TABLE.has(name.text)) return
    for (const type of this.#typesNamed(name.text)) this.#members(members, type, name.text)
  }

  #typesNamed(name: string): TypeSchema[] {
    const names = (NAMES[`${this.#package}.${name}`] ?? [name]).map((one) =>
      one.includes('/') ? one : `${this.#package}.${one}`,
    )
    const types = names.flatMap((one) => table.get(one) ?? table.get(`meta/v1.${name}`) ?? [])
    if (types.length < names.length) this.problems.push(`${name} is not in the table`)
    return types
  }

  #members(members: ts.NodeArray<ts.TypeElement>, type: TypeSchema, at: string): void {
    for (const member of members) {
      if (!ts.isPropertySignature(member) || member.type === undefined) continue
      const path = `${at}.${member.name.getText()}`
      const field = type.byName.get(member.name.getText())
      if (field === undefined) {
        this.problems.push(`${path} is not in the table`)
        continue
      }
      const isOptional = member.questionToken !== undefined
      if (!isOptional && !field.required && !field.always)
        this.problems.push(`${path} may be missing`)
      this.#field(member.type, field, path)
    }
  }

  #field(node: ts.TypeNode, field: FieldSchema, path: string): void {
    const parts = ts.isUnionTypeNode(node) ? node.types : [node]
    for (const part of parts.filter((one) => one.getText() !== 'null')) {
      const element = elementOf(part, field)
      if (element === undefined) this.problems.push(`${path} is a ${field.cardinality}`)
      else this.#value(element, field, path)
    }
  }

  #value(node: ts.TypeNode, field: FieldSchema, path: string): void {
    const inner = ts.isParenthesizedTypeNode(node) ? node.type : node
    if (['unknown', 'object'].includes(inner.getText())) return
    if (field.scalar) {
      const fits = SCALARS[field.type] ?? isText
      const parts = ts.isUnionTypeNode(inner) ? inner.types : [inner]
      if (!parts.every(({kind}) => fits(kind))) this.problems.push(`${path} is a ${field.type}`)
      return
    }
    const type = table.get(field.type)
    assert.ok(type, field.type)
    if (ts.isIntersectionTypeNode(inner))
      for (const part of inner.types) this.#value(part, field, path)
    else if (ts.isTypeLiteralNode(inner)) this.#members(inner.members, type, path)
    else if (!NOT_IN_TABLE.has(inner.getText()) && !this.#isNamed(inner.getText(), type))
      this.problems.push(`${path} is a ${field.type}`)
  }

  #isNamed(name: string, type: TypeSchema): boolean {
    const names = NAMES[`${this.#package}.${name}`] ?? [name]
    return names.some((one) => type.name.endsWith(one.includes('/') ? one : `.${one}`))
  }
}

/** The type of the values of a list or map, or of the one value; undefined if the type is none of that sort. */
function elementOf(node: ts.TypeNode, field: FieldSchema): ts.TypeNode | undefined {
  if (node.getText() === 'unknown' || node.getText() === 'object') return node
  if (field.cardinality === 'one') return node
  if (field.cardinality === 'list') return ts.isArrayTypeNode(node) ? node.elementType : undefined
  if (!ts.isTypeReferenceNode(node)) return undefined
  if (node.getText() === 'ResourceList') return field.type === 'Quantity' ? ANYTHING : undefined
  return node.typeName.getText() === 'Record' ? node.typeArguments?.[1] : undefined
}

const ANYTHING = (
  ts.createSourceFile('', 'type T = unknown', ts.ScriptTarget.Latest, true)
    .statements[0] as ts.TypeAliasDeclaration
).type

describe('the wire types', () => {
  for (const file of readdirSync(join(ROOT, 'api')).filter((name) => name.endsWith('.ts'))) {
    it(`of api/${file} are those of the schema table`, () => {
      const comparison = new Comparison(PACKAGES[basename(file, '.ts')] ?? 'core/v1')
      for (const declaration of interfacesOf(join(ROOT, 'api', file)))
        comparison.interface(declaration)
      assert.deepEqual(comparison.problems, [])
    })
  }

  it('are defined nowhere else', () => {
    const files = readdirSync(ROOT, {recursive: true, encoding: 'utf8'}).filter(
      (name) => name.endsWith('.ts') && !name.startsWith('api/'),
    )
    const found = files.flatMap((name) =>
      interfacesOf(join(ROOT, name))
        .filter(({heritageClauses = []}) =>
          heritageClauses.some((clause) => clause.getText().includes('ApiObject')),
        )
        .map((declaration) => declaration.name.text),
    )
    assert.deepEqual(found.sort(), ELSEWHERE)
  })
})
