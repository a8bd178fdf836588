/// The reason why an argument's value can't become text, query items, form fields or headers.
///
/// It names the place and the type but never the value, which may be a secret.
public struct ReflectionError: DescribedError, Hashable, Sendable {
    /// The reason for the failure.
    public enum Problem: DescribedError, Hashable {
        /// The type has no text form, or is a structure where one text is needed.
        case noText
        /// Binary data in a place for text.
        case binary
        /// An enum without raw value.
        case enumWithoutRawValue
        /// A function, a metatype or another value without properties.
        case nothingToReflect
        /// A number that is infinite or not a number.
        case notFinite
        /// A date outside the years 0000 to 9999.
        case dateOutOfRange
        /// More levels than the limit; most likely a reference cycle.
        case tooDeep(limit: Int)
        /// A single value or a list without a name.
        case noName
        /// A tuple element without a label.
        case unlabelledElement
        /// A structure or list inside a list or structure that is joined to one field, such as by commas.
        case structureInCommaList
        /// A `lazy` property that hasn't been read yet.
        case lazyNotComputed
        /// An `encode(to:)` that requested containers of different kinds from one encoder, or wrote one value twice.
        case mixedContainers
        /// A JSON-encoded property of a form that is missing when the whole value is encoded as JSON.
        case noJSONMember

        /// A sentence with the problem and the fix.
        public var description: String { "The value \(explanation)." }
    }

    /// The place of the value in the argument, such as `filter.tags[2]`; empty for the argument itself.
    public let path: String
    /// The name of the value's type, or of the argument's that contains it.
    public let type: String
    /// The reason for the failure.
    public let problem: Problem

    init(_ problem: Problem, at path: FieldPath, type: Any.Type) {
        self.path = path.description
        self.type = String(describing: type)
        self.problem = problem
    }

    /// A sentence with the place, the type and the fix.
    public var description: String {
        (path.isEmpty ? "The value" : "The value at \"\(path)\"") + " of type \(type) " + problem.explanation + "."
    }
}

extension ReflectionError.Problem {
    fileprivate var explanation: String {
        switch self {
        case .noText: "isn't one text; pass a String, conform the type to TextRepresentable or give it a raw value"
        case .binary: "is binary and has no text; send it as the body, or pass its base64EncodedString()"
        case .enumWithoutRawValue: "is an enum without raw value; declare it \": String\" or conform it to TextRepresentable"
        case .nothingToReflect:
            "has no properties that could become fields; pass a struct, a dictionary, or an Encodable or TextRepresentable type"
        case .notFinite: "is infinite or not a number, which has no agreed text; pass a finite number or a String"
        case .dateOutOfRange: "is outside the years 0000 to 9999 that ISO 8601 can write; pass a date within them, or a String"
        case .tooDeep(let limit):
            "is nested more than \(limit) levels deep; break the cycle, flatten it, or raise the FieldReflection's depthLimit, if any"
        case .noName: "has no name; give the field a name, or pass a struct or a dictionary"
        case .unlabelledElement: "is a tuple element without a label; label it, or pass a struct"
        case .structureInCommaList:
            "is a structure or list inside a value that is joined to one field, such as by commas; choose another array or object strategy"
        case .lazyNotComputed: "is a lazy property that hasn't been computed; read it first, or make the type Encodable"
        case .mixedContainers: "asked its encoder for containers of different kinds or wrote a single value twice; fix its encode(to:)"
        case .noJSONMember: "isn't in the JSON of the whole value under the same name; make the type encode the same names each time"
        }
    }
}
