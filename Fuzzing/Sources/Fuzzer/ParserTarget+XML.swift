import Foundation
import WebServiceClient

/// A type with all forms of coding keys, which contains itself.
private struct XMLTarget: Codable {
    var id: String?
    var number: Decimal?
    var text: String
    var item: [Int]?
    var inner: [XMLTarget]
    var choices: [Choice]
    var blob: Data?
    var date: Date?

    enum CodingKeys: String, CodingKey {
        case id = "@id", number, text = "#text", item, inner = "{urn:u}c", choices = "a/*", blob, date
    }

    enum Choice: Codable {
        case a(XMLTarget)
        case b(x: Int?)
        case c
    }
}

extension ParserTarget {
    /// Reads a text as a value without a type, and checks that it comes back from its own text.
    func runUntyped(_ text: String, _ data: Data) {
        if self == .jsonValue {
            guard let value = try? JSONReader().decode(JSONValue.self, from: data) else { return }
            let written = try? value.json()
            let read = written.flatMap { try? JSONReader().decode(JSONValue.self, from: Data($0.utf8)) }
            check(read == value && (try? read?.json()) == written, "\(text.debugDescription) doesn't come back")
            return
        }
        var decoder = XMLDecoder()
        decoder.documentType = .skipped
        if self == .xmlDecoding {
            _ = try? decoder.decode([String: [String]].self, from: data)
            _ = try? decoder.decode([XMLTarget.Choice].self, from: data)
            decoder.refusesUnknown = true
            guard let target = try? decoder.decode(XMLTarget.self, from: data) else { return }
            check((try? XMLEncoder().encode(target)) != nil, "\(text.debugDescription) is read and can't be written")
            return
        }
        guard let value = try? decoder.decode(XMLValue.self, from: data) else { return }
        let written = try? value.xml()
        let read = written.flatMap { try? XMLDecoder().decode(XMLValue.self, from: Data($0.utf8)) }
        check(read == value && (try? read?.xml()) == written, "\(text.debugDescription) doesn't come back")
    }
}
