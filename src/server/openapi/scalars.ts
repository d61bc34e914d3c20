import type {Scalar} from '../../api/schema/index.ts'
import type {Dialect, OpenapiSchema} from './dialect.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Scalars that OpenAPI defines itself. */
const PLAIN: Partial<Record<Scalar, OpenapiSchema>> = {
  string: {type: 'string'},
  bool: {type: 'boolean'},
  int32: {type: 'integer', format: 'int32'},
  int64: {type: 'integer', format: 'int64'},
  double: {type: 'number', format: 'double'},
  bytes: {type: 'string', format: 'byte'},
  ExtraValue: {type: 'array', items: {type: 'string'}},
}

/** Scalars that Kubernetes defines under a name of their own. */
const NAMED: Partial<Record<Scalar, {name: string; schema: (dialect: Dialect) => OpenapiSchema}>> =
  {
    Time: {
      name: `${META}.Time`,
      schema: () => ({
        type: 'string',
        format: 'date-time',
        description: 'A time of day, in RFC 3339 with seconds.',
      }),
    },
    MicroTime: {
      name: `${META}.MicroTime`,
      schema: () => ({
        type: 'string',
        format: 'date-time',
        description: 'A time of day, in RFC 3339 with microseconds.',
      }),
    },
    FieldsV1: {
      name: `${META}.FieldsV1`,
      schema: () => ({
        type: 'object',
        description:
          'A set of fields: "f:<name>" is a field, "k:<keys>" and "v:<value>" are elements of a list, "." is the field itself.',
      }),
    },
    Quantity: {
      name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
      schema: ({quantity}) => ({
        ...quantity,
        description: 'A number with an optional unit, such as 500m, 2Gi or 1e3.',
      }),
    },
    IntOrString: {
      name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
      schema: ({intOrString}) => ({
        ...intOrString,
        description: 'A number or a text, such as the number or the name of a port.',
      }),
    },
    RawExtension: {
      name: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
      schema: () => ({
        type: 'object',
        description: 'An object whose shape is known to others only.',
      }),
    },
  }

/** How a field of a scalar type is written. */
export function scalarSchema(scalar: string, dialect: Dialect): OpenapiSchema {
  const named = NAMED[scalar as Scalar]
  return named === undefined ? {...PLAIN[scalar as Scalar]} : dialect.reference(named.name)
}

/** The definition that fields of a scalar type refer to, if it has one. */
export function scalarDefinition(
  scalar: string,
  dialect: Dialect,
): [name: string, schema: OpenapiSchema] | undefined {
  const named = NAMED[scalar as Scalar]
  return named && [named.name, named.schema(dialect)]
}
