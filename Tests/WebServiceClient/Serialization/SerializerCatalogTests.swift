import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct SerializerCatalogTests {
    @Test func `Every serializer of the library is in the catalog, or has a reason why not`() {
        let found = ConformanceSymbols.types(conformingTo: "SerializationDelegate")
        #expect(found.contains("WebServiceClient.JSONSerializer"), "the test process has no symbols, so that nothing is checked")
        let listed = Set(SerializerCatalog.types.map { String(reflecting: $0) })
        for name in found where !listed.contains(name) && SerializerCatalog.others[name] == nil {
            Issue.record(
                "\(name) is a serializer that descriptions don't read: let it conform to DescribedSerializer and add it to SerializerCatalog.types, or add it with a reason to SerializerCatalog.others"
            )
        }
        #expect(listed.count == SerializerCatalog.types.count && listed.isDisjoint(with: SerializerCatalog.others.keys))
    }

    /// A value whose text differs by the settings of a serializer.
    private struct Sample: Encodable {
        let pageCount = 1
        let made = Date(timeIntervalSince1970: 1.5)
        let tags = ["a", "b"]
        let place = ["x": 1]
        let bytes = Data([1])
        let none: String? = nil
    }

    private static func rules(_ change: (inout XMLRules) -> Void) -> XMLRules {
        var rules = XMLRules()
        change(&rules)
        return rules
    }

    private static let plain: [any SerializationDelegate] = [
        JSONSerializer(), JSONSerializer(contentType: "application/vnd.a+json; charset=iso-8859-1", dates: .seconds, keys: .snakeCase),
        JSONSerializer(dates: .iso8601(fractionDigits: 0)), FormSerializer(), FormSerializer(charset: .isoLatin1),
        FormSerializer(charset: .utf8), FormSerializer(FieldReflection(arrays: .comma, missing: .empty, dates: .milliseconds)),
        FormSerializer(FieldReflection(arrays: .pipe, depthLimit: 5, keys: .snakeCase, objects: .joined), charset: .isoLatin1),
        PropertyListSerializer(), PropertyListSerializer(.binary, contentType: "a/b"), PlainTextSerializer(),
        PlainTextSerializer(.utf16, mediaType: "text/csv; header=\"a, b\""), RawDataSerializer(), RawDataSerializer(contentType: "a/b"),
        XMLSerializer(), XMLSerializer(contentType: "a/b; charset=utf-8"),
        XMLSerializer(contentType: "a/b") { encoder, _ in encoder.encoding = .isoLatin1 },
    ]

    private static let rulesOfXML: [XMLRules] = [
        rules { $0.rootName = "{urn:a, b}order" }, rules { $0.keys = .kebabCase }, rules { $0.keys = .capitalized },
        rules { $0.lists = .wrapped(item: "i") }, rules { $0.nils = .schemaNil }, rules { $0.dates = .milliseconds },
        rules { $0.dates = .iso8601(fractionDigits: 0) }, rules { $0.data = .hexadecimal }, rules { $0.itemName = "value" },
        rules { $0.attributes = ["pageCount", "made"] }, rules { $0.namespaces = ["": "urn:a", "b": "urn:\"b\""] },
    ]

    private static let serializers: [any SerializationDelegate] = plain + rulesOfXML.map { XMLSerializer($0) }

    @Test(arguments: serializers.indices) func `A serializer is read again from its text`(index: Int) throws {
        let serializer = Self.serializers[index]
        let text = SerializerCatalog.text(of: serializer)
        let read = try #require(SerializerCatalog.serializer(text), "\(text)")
        #expect(
            SerializerCatalog.text(of: read) == text && read.contentType == serializer.contentType && type(of: read) == type(of: serializer)
        )
        let sample: any Encodable =
            switch serializer {
            case is RawDataSerializer: Data([1, 2])
            case is PlainTextSerializer: "é"
            // Forms have no nested values in every notation, and the members of property lists have no order.
            case is FormSerializer, is PropertyListSerializer: ["a b": "é"]
            default: Sample()
            }
        let (written, again) = (try serializer.encode(sample), try read.encode(sample))
        // The order of JSON's members differs from call to call.
        let isJSON = serializer is JSONSerializer
        #expect(isJSON ? JSONKeyOrder.sorted(written) == JSONKeyOrder.sorted(again) : written == again, "\(text)")
    }

    @Test func `Different settings have different texts`() {
        let texts = Self.serializers.map { SerializerCatalog.text(of: $0) }
        #expect(Set(texts).count == texts.count, "\(texts)")
    }

    /// Settings of closures have no text. A serializer with them must not be read as one with the usual settings.
    @Test func `A serializer with further settings isn't read`() {
        let serializers: [any SerializationDelegate] = [
            JSONSerializer { encoder, _ in encoder.outputFormatting.insert(.sortedKeys) },
            JSONSerializer(encoder: JSONEncoder(), decoder: JSONDecoder()), JSONSerializer(reader: JSONReader()),
            JSONSerializer(dates: .custom(write: { _ in "" }, read: { _ in nil })),
            FormSerializer(FieldReflection(keys: .custom { $0 })), XMLSerializer(Self.rules { $0.keys = .custom { $0 } }),
            XMLSerializer(Self.rules { $0.dates = .custom(write: { _ in "" }, read: { _ in nil }) }),
            XMLSerializer { _, decoder in decoder.refusesUnknown = true }, XMLSerializer { _, decoder in decoder.rules.keys = .snakeCase },
        ]
        for serializer in serializers {
            let text = SerializerCatalog.text(of: serializer)
            #expect(SerializerCatalog.serializer(text) == nil, "\(text)")
        }
        for text in [
            "", "(", "JSONSerializer", "JSONSerializer()", "JSONSerializer(a/b)", "FormSerializer(a/b)", "XMLSerializer(a/b, x)",
            "PlainTextSerializer(text/plain; charset=nowhere)", "PropertyListSerializer(a/b, yaml)", "Mine(a/b)",
        ] {
            #expect(SerializerCatalog.serializer(text) == nil, "\(text)")
        }
    }

    @Test func `The texts that files contain stay`() {
        #expect(SerializerCatalog.text(of: JSONSerializer()) == "JSONSerializer(application/json, dates in ISO 8601)")
        #expect(
            SerializerCatalog.text(of: JSONSerializer(keys: .snakeCase))
                == "JSONSerializer(application/json, keys in snake case, dates in ISO 8601)")
        #expect(SerializerCatalog.text(of: FormSerializer()) == "FormSerializer(application/x-www-form-urlencoded)")
        #expect(
            SerializerCatalog.text(of: FormSerializer(FieldReflection(arrays: .comma)))
                == "FormSerializer(application/x-www-form-urlencoded, comma, keys as declared, dates in ISO 8601, brackets, leftOut)")
        #expect(SerializerCatalog.text(of: PropertyListSerializer(.binary)) == "PropertyListSerializer(application/x-plist, binary)")
        #expect(SerializerCatalog.text(of: PlainTextSerializer()) == "PlainTextSerializer(text/plain; charset=utf-8)")
        #expect(SerializerCatalog.text(of: XMLSerializer()) == "XMLSerializer(application/xml)")
    }
}
