import Foundation
import WebServiceClient

/// The same tree, read without `Decodable`.
struct JSONDirectTree: JSONReadable {
    let tree: JSONTree

    init(from json: borrowing JSONCursor) throws {
        var members: [String: JSONTree] = [:]
        var names = 0
        if (try? json.forEachMember({ name, value in
            names += 1
            members[name] = try JSONDirectTree(from: value).tree
        })) != nil {
            tree = .object(members.count == names ? members : [:])
            return
        }
        var values: [JSONTree] = []
        if (try? json.forEachElement({ values.append(try JSONDirectTree(from: $0).tree) })) != nil {
            tree = .array(values)
        } else if json.isNull {
            tree = .null
        } else if let bool = try? Bool(from: json) {
            tree = .bool(bool)
        } else if let string = try? String(from: json) {
            tree = .string(string)
        } else {
            _ = (try? Int8(from: json), try? UInt64(from: json), try? Float(from: json), try? Decimal(from: json))
            tree = .number((try? Double(from: json)) ?? 0)
        }
    }
}
