import Foundation
import TestSupport
import Testing

@testable import ODataGeneration

struct SwiftNamesTests {
    @Test(arguments: [
        ("user", "User"), ("OData_Name", "OData_Name"), ("_Product", "_Product"), ("2fa", "_2fa"), ("a-b", "A_b"),
        ("Call Number", "Call_Number"),
        ("ärger", "Ärger"), ("ß", "ß"), ("", "__"), ("_", "__"), ("-", "__"), ("日本", "日本"),
    ])
    func typesBeginWithAnUppercaseLetter(_ wire: String, _ swift: String) {
        #expect(SwiftNames.typeName(wire) == swift)
    }

    @Test(arguments: [
        ("CategoryID", "categoryID"), ("ID", "id"), ("URLText", "urlText"), ("Order_Details", "order_Details"),
        ("ADDRESS_ID", "address_ID"),
        ("iPhone", "iPhone"), ("request-id", "request_id"), ("OData_Name", "oData_Name"), ("_X", "_x"), ("A", "a"),
    ])
    func membersBeginWithALowercaseLetter(_ wire: String, _ swift: String) {
        #expect(SwiftNames.memberName(wire) == swift)
    }

    @Test func literalsHaveNothingThatEndsThem() {
        #expect(SwiftNames.literal("a\"b\\(c)\n\u{202E}") == #""a\"b\\(c)\u{a}\u{202e}""#)
    }

    @Test func collidingNamesGetASuffixFromTheirOwnName() {
        func names(_ wires: [String]) -> [String: String] {
            let claims = wires.map { NameScope.Claim(key: $0, wire: $0, wanted: SwiftNames.typeName($0)) }
            return NameScope(reserved: ["OData"]) { _, name in [name + "Model"] }.names(for: claims).names
        }
        #expect(names(["alert", "Alert"]) == ["alert": "Alert_alert", "Alert": "Alert_Alert"])
        // A third one changes neither.
        #expect(names(["alert", "Alert", "_alert"])["alert"] == "Alert_alert")
        #expect(names(["user", "userModel"]) == ["user": "User", "userModel": "UserModel_"])
        #expect(names(["oData", "self"])["oData"] == "OData_")
    }

    /// Names made of what identifiers, keywords, literals and comments stumble over.
    @Test func hostileNamesBecomeDifferentIdentifiers() {
        var random = SeededGenerator(seed: 34)
        let pieces =
            Array(SwiftNames.keywords).sorted() + Array(SwiftNames.unusable).sorted() + SwiftNames.itemMembers.sorted() + [
                "a", "A", "_", "-", " ", "0", "9", "é", "e\u{301}", "ß", "İ", "\u{200D}", "\u{202E}", "日", "😀", "\"", "\\", "`", "$", "//",
                "*/",
                "\n", "\u{0}", "Model", "Properties", "Tag", ".", "/", "%",
            ]
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let wires = Set(
                (0..<12).map { _ in
                    (0..<Int.random(in: 1...3, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
                })
            let claims = wires.sorted().map { NameScope.Claim(key: $0, wire: $0, wanted: SwiftNames.memberName($0)) }
            let names = NameScope(reserved: SwiftNames.itemMembers).names(for: claims).names
            #expect(names.count == wires.count)
            #expect(Set(names.values).count == wires.count, "\(names)")
            for (wire, name) in names {
                #expect(SwiftNames.isIdentifier(name), "\(wire)")
                #expect(!SwiftNames.unusable.contains(name) && !SwiftNames.itemMembers.contains(name), "\(wire)")
            }
            // The order of the document plays no part.
            #expect(NameScope(reserved: SwiftNames.itemMembers).names(for: claims.shuffled(using: &random)).names == names)
        }
    }

    @Test func similarNamesAreFound() {
        let all = ["Shop.order", "Shop.line", "Shop.customer"]
        #expect(NearestNames.nearest(to: "Shop.oder", among: all) == ["Shop.order"])
        #expect(NearestNames.nearest(to: "order", among: all) == ["Shop.order"])
        #expect(NearestNames.nearest(to: "weather", among: all).isEmpty)
        #expect(NearestNames.nearest(to: String(repeating: "x", count: 100_000), among: all).isEmpty)
    }

    @Test func aTextForACommentHasNothingThatEndsIt() {
        #expect(SwiftNames.visible("a\nb\r\u{0}\u{85}\u{2028}\u{2029}\u{202E}é日") == "abé日")
    }

    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Sources")
        .standardizedFileURL

    /// A public member of items that the list lacks would hide a property of that name.
    @Test func theListOfTheItemsMembersIsComplete() throws {
        let declaration = #/^    (?:@\w+(?:\([^)]*\))? )*public (?:internal\(set\) |mutating )*(?:var|func|let) `?(\w+)/#
        var found: Set<String> = ["hashValue"]  // Swift makes it for `Hashable`.
        let files = FileManager.default.enumerator(at: Self.sources.appendingPathComponent("OData"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            var isInside = false
            for line in text.split(separator: "\n") {
                if line.first.map({ $0 != " " && $0 != "/" }) ?? false, line.hasSuffix("{") {
                    isInside = line.contains(#/(?:extension|struct) ODataItem\b/#)
                } else if isInside, let match = line.firstMatch(of: declaration) {
                    found.insert(String(match.1))
                }
            }
        }
        #expect(found.contains("odataValue"), "the sources weren't found")
        #expect(found == SwiftNames.itemMembers)
    }

    /// A public member of the client that the list lacks would collide with an entity set of that name.
    @Test func theListOfTheClientsMembersIsComplete() throws {
        let declaration =
            #/^    (?:@\w+(?:\([^)]*\))? )*(?:public|open) (?:override |static |class |final |nonisolated )*(?:var|func|let) `?(\w+)/#
        var missing: Set<String> = []
        for folder in ["WebServiceClient", "OData"] {
            let files = FileManager.default.enumerator(at: Self.sources.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift", let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                var isInside = false
                for line in text.split(separator: "\n") {
                    if line.first.map({ $0 != " " && $0 != "/" }) ?? false, line.hasSuffix("{") {
                        isInside = line.contains(#/(?:extension|class) (?:WebServiceClient|ODataClient)\b/#)
                    } else if isInside, let match = line.firstMatch(of: declaration) {
                        missing.insert(String(match.1))
                    }
                }
            }
        }
        #expect(missing.count > 40, "the sources weren't found")
        #expect(missing.subtracting(SwiftNames.clientMembers).isEmpty)
    }
}
