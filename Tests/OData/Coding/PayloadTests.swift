import Foundation
import Testing

@testable import OData

/// Payloads of real services; without `SHARED_DIRECTORY` these tests are skipped.
@Suite(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY names no folder with payloads"))
struct PayloadTests {
    @Test(arguments: Payloads.validNames)
    func `every valid payload is written back byte for byte, apart from blanks and escapes`(name: String) throws {
        let data = try Payloads.data(name)
        let value = try ODataDecoder().decode(ODataValue.self, from: data)
        let written = try ODataEncoder().encode(value)
        #expect(String(decoding: written, as: UTF8.self) == Self.compact(data))
        // Foundation's reader decodes the same from both.
        let plain = try JSONSerialization.jsonObject(with: data) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: written) as? NSDictionary == plain)
    }

    /// Returns the text without blanks between tokens, and without the two kinds of needless escapes in the payloads.
    private static func compact(_ data: Data) -> String {
        var text = ""
        var isInText = false
        var isEscaped = false
        for scalar in String(decoding: data, as: UTF8.self).unicodeScalars where scalar != "\u{FEFF}" {
            if isInText || !" \t\r\n".unicodeScalars.contains(scalar) { text.unicodeScalars.append(scalar) }
            if scalar == "\"", !isEscaped { isInText.toggle() }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return text.replacing("\\/", with: "/").replacing("\\u00f3", with: "ó").replacing("\\u00e9", with: "é")
    }

    @Test(arguments: Payloads.validNames.filter { !$0.contains("error") })
    func `the entities of every valid payload are written as they were read`(name: String) throws {
        let root = try #require(JSONSerialization.jsonObject(with: Payloads.data(name)) as? [String: Any])
        let body = root["d"] as? [String: Any] ?? root
        if let entities = (body["value"] ?? body["results"] ?? root["d"]) as? [[String: Any]] {
            let written = try ODataEncoder().encode(Payloads.page(name).entities)
            #expect(try JSONSerialization.jsonObject(with: written) as? NSArray == entities as NSArray)
        } else {
            let written = try ODataEncoder().encode(Payloads.entity(name))
            #expect(try JSONSerialization.jsonObject(with: written) as? NSDictionary == body as NSDictionary)
        }
    }

    @Test func `the invalid payload is an error that names the fault`() throws {
        let error = #expect(throws: DecodingError.self) { try Payloads.entity("v2-double-property-invalid.json") }
        #expect("\(String(describing: error))".contains("“Name” twice"))
    }

    @Test(arguments: [
        "v2-deleted-entries.json", "v2-inline-count.json", "v2-set-without-d.json", "v2-set.json", "v4-crossjoin.json",
        "v4-entity-references.json", "v4-full-metadata-set.json", "v4-graph-list-items-expand.json", "v4-graph-objects-by-id.json",
        "v4-graph-users.json", "v4-inline-count.json", "v4-inner-next-link-empty.json", "v4-inner-next-link.json",
        "v4-polymorphic-complex.json", "v4-service-document.json", "v4-trippin-people-20.json", "v4.01-open-type.json",
    ])
    func `pages are read completely`(name: String) throws {
        let page = try Payloads.page(name)
        let root = try #require(JSONSerialization.jsonObject(with: Payloads.data(name)) as? [String: Any])
        let body = root["d"] as? [String: Any] ?? root
        let values = try #require((body["value"] ?? body["results"]) as? [[String: Any]])
        #expect(page.entities.map { Set($0.properties.map(\.name)) } == values.map { Set($0.keys) })
        #expect(page.nextLink == (body["@odata.nextLink"] ?? body["__next"]) as? String)
        #expect(page.context == body["@odata.context"] as? String)
        let count = body["@odata.count"] ?? body["__count"]
        #expect(page.count.map { "\($0)" } == count.map { "\($0)" })
    }

    @Test(arguments: Payloads.validNames.filter { !$0.contains("error") })
    func `entity, metadata and undeclared properties contain the whole payload`(name: String) throws {
        struct Nothing: Decodable, Sendable {}
        let root = try ODataDecoder().decode(ODataValue.self, from: Payloads.data(name))
        var object = root["d"]?.object ?? root.object
        // A function's result is inside a member with its name.
        if root["d"] != nil, object?.properties.count == 1, let result = object?.properties.first?.value.object { object = result }
        guard let object, object["value"] == nil, object["results"] == nil else { return }
        let entity = try Payloads.entity(name, of: ODataEntity<Nothing>.self)
        let declared = object.properties.filter { !$0.name.contains("@") && !$0.name.hasPrefix("#") && $0.name != "__metadata" }
        let deferred = declared.filter { $0.value["__deferred"] != nil }
        #expect(entity.undeclared.properties == declared.filter { $0.value["__deferred"] == nil })
        let metadata = entity.metadata
        #expect(deferred.allSatisfy { metadata.navigationLinks[$0.name] == $0.value["__deferred"]?["uri"]?.string })
        let marks = object.properties.count - declared.count
        let own = [metadata.context, metadata.typeName, metadata.id, metadata.etag, metadata.readLink, metadata.editLink].compactMap(\.self)
        let media = metadata.media.map { [$0.readLink, $0.editLink, $0.contentType, $0.etag].compactMap(\.self).count } ?? 0
        let ofProperties =
            metadata.propertyTypes.count + metadata.associationLinks.count
            + metadata.propertyAnnotations.reduce(0) { $0 + $1.value.properties.count }
        let links = object["__metadata"] == nil ? metadata.navigationLinks.count : 0
        let known = own.count + media + ofProperties + links + metadata.operations.count + metadata.annotations.properties.count
        if object["__metadata"] == nil { #expect(known + metadata.others.properties.count == marks, "\(metadata)") }
    }

    @Test(arguments: [
        ("v4-error-details.json", "501"), ("v4-error-plain.json", "500"), ("v4-graph-error.json", "Authorization_RequestDenied"),
    ])
    func errorsAreRead(name: String, code: String) throws {
        #expect(ODataErrorBody(try Payloads.data(name))?.code == code)
    }

    @Test func anErrorOfVersionThree() throws {
        let error = try #require(ODataErrorBody(try Payloads.data("v3-odata-error.json")))
        #expect(error.message == "Unsupported media type requested.")
        #expect(error.innerError?["stacktrace"]?.string?.isEmpty == false)
    }

    @Test func `every primitive kind is read as its type, and written as it was read`() throws {
        struct Values: Codable {
            let NullValue: Presence<Int>
            let TrueValue: Bool
            let FalseValue: Bool
            let BinaryValue: EdmBinary
            let IntegerValue: Int8
            let DoubleValue: EdmDecimal
            let SingleValue: Float
            let DecimalValue: Decimal
            let StringValue: String
            let DateValue: EdmDate
            let DateTimeOffsetValue: EdmDateTimeOffset
            let DurationValue: EdmDuration
            let TimeOfDayValue: EdmTimeOfDay
            let GuidValue: UUID
            let Int64Value: Int64
            let ColorEnumValue: OpenEnumeration<Colour>
            let GeographyPoint: EdmSpatial
        }
        enum Colour: String { case red = "Red" }
        let values = try Payloads.entity("v4-primitive-values.json", of: Values.self)
        #expect(values.SingleValue == .infinity && values.ColorEnumValue == .unknown("Yellow"))
        #expect(values.DurationValue.duration.components.attoseconds == 999_999_999_999_000_000)
        #expect(values.BinaryValue.data == Data("OData".utf8))
        let root = try Payloads.entity("v4-primitive-values.json")
        #expect(try ODataEncoder().payload(of: values).object == root)
    }

    @Test func `a contained entity with all types is read, including Int64's minimum`() throws {
        struct Values: Codable {
            let PropertyInt16: Int16
            let PropertyInt32: Int32
            let PropertyInt64: Int64
            let PropertySingle: Float
            let PropertyDouble: Double
            let PropertyDecimal: EdmDecimal
            let PropertyBinary: Data
            let PropertyDate: EdmDate
            let PropertyDuration: Duration
            let PropertyGuid: UUID
            let PropertyTimeOfDay: EdmTimeOfDay
            let PropertyByte: UInt8
            let PropertySByte: Int8
        }
        let values = try Payloads.entity("v4-contained-entity-all-types.json", of: Values.self)
        #expect(values.PropertyInt64 == .min && values.PropertyInt16 == .min && values.PropertySByte == .min)
        #expect(values.PropertyBinary == Data([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]))
        #expect(values.PropertyDuration == .seconds(9))
        let metadata = try Payloads.entity("v4-contained-entity-all-types.json", of: EntityMetadata.self)
        #expect(metadata.propertyTypes["PropertyInt64"] == "Int64" && metadata.others["@odata.metadataEtag"] != nil)
    }
}
