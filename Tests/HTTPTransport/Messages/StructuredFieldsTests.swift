import Foundation
import HTTPTransport
import TestSupport
import Testing

/// Tests with the cases of httpwg/structured-field-tests, in the folder that `SHARED_DIRECTORY` names, and without them.
@Suite struct StructuredFieldsTests {
    private typealias Fields = StructuredFields

    private static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/structured-fields" }

    /// A field with its type.
    private enum Field: Equatable {
        case item(StructuredFields.Item)
        case list([StructuredFields.Member])
        case dictionary(StructuredFields.Dictionary)

        init(type: String, _ lines: [String]) throws {
            switch type {
            case "item": self = .item(try StructuredFields.item(lines))
            case "list": self = .list(try StructuredFields.list(lines))
            default: self = .dictionary(try StructuredFields.dictionary(lines))
            }
        }

        func text() throws -> String? {
            switch self {
            case .item(let item): try StructuredFields.text(of: item)
            case .list(let list): try StructuredFields.text(of: list)
            case .dictionary(let dictionary): try StructuredFields.text(of: dictionary)
            }
        }

        /// The field in the notation of the cases.
        var notation: Any {
            switch self {
            case .item(let item): Self.notation(item)
            case .list(let list): list.map { Self.notation($0) }
            case .dictionary(let dictionary): dictionary.map { [$0.key, Self.notation($0.value)] as [Any] }
            }
        }

        private static func notation(_ member: StructuredFields.Member) -> Any {
            switch member {
            case .item(let item): notation(item)
            case .innerList(let list): [list.items.map { notation($0) }, notation(list.parameters)] as [Any]
            }
        }

        private static func notation(_ item: StructuredFields.Item) -> Any {
            [notation(item.value), notation(item.parameters)] as [Any]
        }

        private static func notation(_ parameters: StructuredFields.Parameters) -> Any {
            parameters.map { [$0.key, notation($0.value)] as [Any] }
        }

        private static func notation(_ value: StructuredFields.BareItem) -> Any {
            switch value {
            case .integer(let number): number
            case .decimal(let number): number
            case .string(let text): text
            case .token(let text): ["__type": "token", "value": text]
            case .bytes(let data): ["__type": "binary", "value": base32(data)]
            case .boolean(let value): value
            case .date(let seconds): ["__type": "date", "value": seconds] as [String: Any]
            case .displayString(let text): ["__type": "displaystring", "value": text]
            }
        }

        /// RFC 4648 §6.
        private static func base32(_ data: Data) -> String {
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
            var (text, bits, count) = ("", 0, 0)
            for byte in data {
                (bits, count) = (bits << 8 | Int(byte), count + 8)
                while count >= 5 {
                    text.append(alphabet[bits >> (count - 5) & 31])
                    count -= 5
                }
                bits &= 0xFF
            }
            if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
            return text + String(repeating: "=", count: (8 - text.count % 8) % 8)
        }
    }

    @Test(.enabled("SHARED_DIRECTORY names no folder with the cases") { folder != nil })
    func `All cases of the specification's suite pass`() throws {
        let folder = try #require(Self.folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted()
        var (count, refused) = (0, 0)
        for file in files {
            let data = try Data(contentsOf: URL(filePath: folder + "/" + file))
            let cases = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
            for example in cases {
                let name = "\(file): \(example["name"] as? String ?? "")"
                let (lines, type) = try (
                    #require(example["raw"] as? [String], "\(name)"), #require(example["header_type"] as? String, "\(name)")
                )
                count += 1
                let field = try? Field(type: type, lines)
                if example["must_fail"] as? Bool == true {
                    refused += 1
                    #expect(field == nil, "\(name)")
                    continue
                }
                if field == nil, example["can_fail"] as? Bool == true { continue }
                guard let field else {
                    Issue.record("\(name) is refused")
                    continue
                }
                let expected = try #require(example["expected"], "\(name)")
                #expect(Self.canonical(field.notation) == Self.canonical(expected), "\(name): \(field)")
                let canonical = (example["canonical"] as? [String] ?? lines).joined(separator: ", ")
                #expect(try field.text() ?? "" == canonical, "\(name)")
                #expect(try Field(type: type, field.text().map { [$0] } ?? []) == field, "\(name)")
            }
        }
        #expect(files.count >= 20 && count >= 1_500 && refused >= 800)
    }

    /// The notation as text. Numbers and Booleans are equal if their values are; the field's canonical text tells their types.
    private static func canonical(_ value: Any) -> String {
        switch value {
        case let list as [Any]: "[" + list.map { canonical($0) }.joined(separator: ",") + "]"
        case let entries as [String: Any]:
            "{" + entries.keys.sorted().map { "\($0):" + canonical(entries[$0] ?? "") }.joined(separator: ",") + "}"
        case let text as String: text.debugDescription
        case let number as Int64: "\(Double(number))"
        case let number as Double: "\(number)"
        case let boolean as Bool: boolean ? "1.0" : "0.0"
        case let number as NSNumber: "\(number.doubleValue)"
        default: "\(value)"
        }
    }

    @Test func `A field's parts are reached by key and type`() throws {
        let list = try Fields.list([#""minute";r=12;t=8"#, #""day";r=4000;pk=:YWI=:"#])
        #expect(list.count == 2)
        let minute = try #require(list.first?.item)
        #expect(minute.value.text == "minute" && minute.parameters["r"]?.integer == 12 && minute.parameters["x"] == nil)
        #expect(list.last?.parameters["pk"]?.bytes == Data("ab".utf8))
        let priority = try Fields.dictionary(["u=5, i"])
        #expect(priority["u"]?.item?.value.number == 5 && priority["i"]?.item?.value.boolean == true && priority.map(\.key) == ["u", "i"])
        #expect(try Fields.item(["@1659578233"]).value.date == Date(timeIntervalSince1970: 1_659_578_233))
        #expect(try Fields.list([]).isEmpty && Fields.dictionary([""]).isEmpty)
        #expect(throws: StructuredFields.Fault.self) { try Fields.item([]) }
    }

    @Test func `Values that can't be written are errors that say why`() throws {
        func fault(_ value: StructuredFields.BareItem, key: String = "a") -> String? {
            do {
                _ = try Fields.text(of: StructuredFields.Item(value, parameters: [key: .boolean(true)]))
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault(.integer(1_000_000_000_000_000))?.contains("15 digits") == true && fault(.integer(.min)) != nil)
        #expect(fault(.integer(-999_999_999_999_999)) == nil && fault(.date(.max)) != nil)
        for number in [1e12, -1e300, 999_999_999_999.9999] {
            #expect(fault(.decimal(number))?.contains("12 digits") == true, "\(number)")
        }
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(fault(.decimal(number))?.contains("isn't a finite number") == true, "\(number)")
        }
        #expect(fault(.decimal(999_999_999_999.999)) == nil && fault(.decimal(-0.0004)) == nil)
        #expect(fault(.string("ü")) != nil && fault(.string("a\n")) != nil && fault(.displayString("ü\n\u{0}")) == nil)
        #expect(fault(.token("")) != nil && fault(.token("1a")) != nil && fault(.token("a b")) != nil && fault(.token("*a/b:c")) == nil)
        for key in ["", "A", "1", "a b", "ä"] { #expect(fault(.boolean(true), key: key) != nil, "\(key)") }
        #expect(try Fields.text(of: [StructuredFields.Member]()) == nil && Fields.text(of: StructuredFields.Dictionary()) == nil)
        // Halves go to the even digit (RFC 9651 §4.1.5).
        for (number, text) in [(0.0025, "0.002"), (0.0035, "0.004"), (1, "1.0"), (-1.5, "-1.5"), (-0.0001, "0.0"), (4.5e2, "450.0")] {
            #expect(try Fields.text(of: StructuredFields.Item(.decimal(number))) == text)
        }
    }

    @Test func `Random values come back from their text`() throws {
        var generator = SeededGenerator(seed: 9_651)
        func word(_ alphabet: String, first: String? = nil) -> String {
            var text = String(first?.randomElement(using: &generator).map(String.init) ?? "")
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                if let character = alphabet.randomElement(using: &generator) { text.append(character) }
            }
            return text
        }
        let lower = "abcdefghijklmnopqrstuvwxyz"
        func bareItem() -> StructuredFields.BareItem {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: .integer(Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &generator))
            case 1: .decimal(Double(Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &generator)) / 1_000)
            case 2: .string(word(lower + "\"\\ ~;,()=%"))
            case 3: .token(word(lower + "0123456789:/!#$%&'*+-.^_`|~", first: lower + "*ABC"))
            case 4: .bytes(Data((0..<Int.random(in: 0...9, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            case 5: .boolean(.random(using: &generator))
            case 6: .date(Int64.random(in: -9_999_999_999...9_999_999_999, using: &generator))
            default: .displayString(word(lower + "äöü€😀%\"\n\u{0} "))
            }
        }
        func parameters() -> StructuredFields.Parameters {
            var parameters = StructuredFields.Parameters()
            for _ in 0..<Int.random(in: 0...2, using: &generator) { parameters[word(lower + "0_-.*", first: lower + "*")] = bareItem() }
            return parameters
        }
        func item() -> StructuredFields.Item { StructuredFields.Item(bareItem(), parameters: parameters()) }
        func member() -> StructuredFields.Member {
            guard Int.random(in: 0..<4, using: &generator) == 0 else { return .item(item()) }
            let items = (0..<Int.random(in: 0...3, using: &generator)).map { _ in item() }
            return .innerList(StructuredFields.InnerList(items, parameters: parameters()))
        }
        for _ in 0..<2_000 {
            let single = item()
            #expect(try Fields.item([try Fields.text(of: single)]) == single)
            let list = (0..<Int.random(in: 1...4, using: &generator)).map { _ in member() }
            #expect(try Fields.list([try #require(try Fields.text(of: list))]) == list)
            var dictionary = StructuredFields.Dictionary()
            for _ in 0..<Int.random(in: 1...4, using: &generator) { dictionary[word(lower, first: lower)] = member() }
            #expect(try Fields.dictionary([try #require(try Fields.text(of: dictionary))]) == dictionary)
        }
    }

    @Test func `A long field takes linear time`() throws {
        let count = 50_000
        let dictionary = try Fields.dictionary([(0..<count).map { "k\($0)" }.joined(separator: ",")])
        #expect(dictionary.count == count)
        let item = try Fields.item(["a" + (0..<count).map { ";k\($0 % 1_000)=\($0)" }.joined()])
        #expect(item.parameters.count == 1_000)
        #expect(throws: StructuredFields.Fault.self) { try Fields.list([String(repeating: "(", count: 100_000)]) }
    }
}
