import { objectType } from '@bufbuild/cel';
import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import type { ReflectMessage } from '@bufbuild/protobuf/reflect';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';

/**
 * A type of CEL, such as `net.IP`. Each of its values is kept as its canonical text, so equal texts are equal values.
 * The library knows types of its own as messages only.
 */
export class CelTextType {
  readonly type;
  readonly #message: DescMessage;

  constructor(pkg: string, name: string) {
    this.#message = describe(pkg, name);
    this.type = objectType(this.#message);
  }

  /** Returns the value with a text. */
  valueOf(text: string): ReflectMessage {
    const value = reflect(this.#message);
    for (const field of value.fields) value.set(field, text);
    return value;
  }

  /** Returns the text of a value. */
  textOf(value: ReflectMessage): string {
    return value.fields.map((field) => ownText(value.get(field))).join('');
  }
}

function ownText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Describes a message with one field of text. */
function describe(pkg: string, name: string): DescMessage {
  const { STRING: type } = FieldDescriptorProto_Type;
  const { OPTIONAL: label } = FieldDescriptorProto_Label;
  const messageType = [{ name, field: [{ name: 'text', number: 1, type, label }] }];
  const file = create(FileDescriptorProtoSchema, {
    name: `${name}.proto`,
    package: pkg,
    syntax: 'proto3',
    messageType,
  });
  const message = createFileRegistry(file, () => undefined).getMessage(`${pkg}.${name}`);
  if (message === undefined) throw new Error(`${pkg}.${name} is not described`);
  return message;
}
