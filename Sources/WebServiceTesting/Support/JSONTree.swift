import Foundation
import WebServiceClient

/// A JSON value, for comparing and masking.
enum JSONTree: Codable, Equatable {
    case null
    case boolean(Bool)
    case number(Decimal)
    /// A number out of the range of `Decimal`.
    case hugeNumber(Double)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])

    init(parsing data: Data) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: data)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let object = try? container.decode([String: JSONTree].self) {
            self = .object(object)
        } else if let list = try? container.decode([JSONTree].self) {
            self = .list(list)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Decimal.self) {
            self = .number(number)
        } else {
            self = .hugeNumber(try container.decode(Double.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .hugeNumber(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }

    /// The first difference of two trees.
    struct Difference: Equatable {
        let place: String
        let expected: String
        let found: String
    }

    func difference(from expected: JSONTree, at place: String = "the root") -> Difference? {
        switch (self, expected) {
        case (.object(let found), .object(let wanted)):
            for name in Set(found.keys).union(wanted.keys).sorted() {
                let inner = place == "the root" ? name : "\(place).\(name)"
                switch (found[name], wanted[name]) {
                case (let found?, let wanted?):
                    if let difference = found.difference(from: wanted, at: inner) { return difference.masked(if: name) }
                case (let found?, nil): return Difference(place: inner, expected: "nothing", found: found.brief).masked(if: name)
                case (nil, let wanted?): return Difference(place: inner, expected: wanted.brief, found: "nothing").masked(if: name)
                case (nil, nil): continue
                }
            }
            return nil
        case (.list(let found), .list(let wanted)):
            for (index, pair) in zip(found, wanted).enumerated() {
                let inner = place == "the root" ? "[\(index)]" : "\(place)[\(index)]"
                if let difference = pair.0.difference(from: pair.1, at: inner) { return difference }
            }
            guard found.count != wanted.count else { return nil }
            return Difference(place: place, expected: "\(wanted.count) elements", found: "\(found.count)")
        default:
            return self == expected ? nil : Difference(place: place, expected: expected.brief, found: brief)
        }
    }

    private var brief: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .hugeNumber(let number): "\(number)"
        case .text(let text): "“\(text.prefix(200))”"
        case .list(let list): "a list of \(list.count)"
        case .object(let object): "an object with \(object.keys.sorted().joined(separator: ", "))"
        }
    }
}

extension JSONTree.Difference {
    /// Masks the values of a member whose name marks it as secret.
    func masked(if name: String) -> JSONTree.Difference {
        guard BodyMask.hides(member: name) else { return self }
        return JSONTree.Difference(place: place, expected: SecretMask.mask, found: SecretMask.mask + ", which differs or is missing")
    }
}
