import Foundation
@_spi(Fuzzing) import OData
import ODataQueryParsing
import WebServiceClient

/// The parsers of OData.
extension ParserTarget {
    func runOData(_ text: String, _ data: Data) {
        switch self {
        case .odataError:
            _ = ODataErrorBody(data)
        case .odataQuery:
            for version in [ODataVersion.v401, .v4, .v2] { readQuery(text, QueryParser(version: version), version) }
        case .odataModel:
            readQuery(text, Self.modelParser, .v401)
            if let model = SmallModel.model, let query = try? QueryParser().query(text) { _ = query.verify(against: model) }
        case .odataExpression:
            for version in [ODataVersion.v401, .v4, .v2] { readExpression(text, version) }
        case .odataLiteral:
            for version in [ODataVersion.v401, .v4, .v2] { readLiteral(text, version) }
        case .odataPage:
            _ = try? JSONDecoder().decode(ODataPage<DynamicEntity>.self, from: data)
            _ = try? ODataDecoder().decode(ODataPage<Polymorphic<Sample>>.self, from: data)
        case .odataPieces:
            let whole = try? ODataPage<DynamicEntity>.read(data, inPiecesOf: 1 << 16)
            let size = 1 + data.count % 7
            let pieces = try? ODataPage<DynamicEntity>.read(data, inPiecesOf: size)
            check(
                whole?.entities == pieces?.entities && whole?.nextLink == pieces?.nextLink && whole?.count == pieces?.count,
                "pieces of \(size) make a difference to \(text.debugDescription)")
        case .odataPayload:
            _ = try? ODataDecoder().decode(ODataPage<ODataEntity<DynamicEntity>>.self, from: data)
            _ = try? ODataDecoder().decode([EdmSpatial].self, from: data)
            _ = try? ServiceDocument(json: data)
            guard let value = try? ODataDecoder().decode(ODataValue.self, from: data) else { return }
            let written = try? ODataEncoder().encode(value)
            check(written.flatMap { try? ODataDecoder().decode(ODataValue.self, from: $0) } == value, "a payload doesn't come back")
        case .odataEntity:
            guard let entity = try? ODataDecoder().decode(ODataEntity<Sample>.self, from: data) else { return }
            // Foundation's dates and floating-point numbers aren't exact, so only the text written first must stay the same.
            guard let first = try? ODataEncoder().encode(entity.value),
                let again = try? ODataDecoder().decode(Sample.self, from: first), let second = try? ODataEncoder().encode(again)
            else { return }
            check(first == second, "\(String(decoding: first, as: UTF8.self)) doesn't come back")
        case .edmText:
            readText(text)
        case .odataBatch, .odataBatchJSON:
            let boundary = self == .odataBatch ? "b" : nil
            checkPieces(text) { ODataBatchAnswer.verdicts(in: data, boundary: boundary, inPiecesOf: $0) }
        case .odataEmbedded:
            let response = ODataJobTicket.embeddedResponse(in: data)
            check(response.map { (100...999).contains($0.status) && $0.body.count <= data.count } ?? true, "a response out of bounds")
        case .odataKeys:
            // The text of a key doesn't depend on where its entity's id is.
            let key = DeltaCursor.keyText(ofID: text, names: ["A"])
            check(key == nil || DeltaCursor.keyText(ofID: "https://h/" + text, names: ["A"]) == key, "\(text.debugDescription) moves")
            _ = DeltaCursor.keyText(ofID: text, names: [])
            _ = DeltaCursor.keyText(ofID: text, names: ["A", "B"])
        default:
            return
        }
    }

    private static let modelParser = QueryParser(model: SmallModel.model)

    private func readQuery(_ text: String, _ parser: QueryParser, _ version: ODataVersion) {
        guard let query = try? parser.query(text) else { return }
        // Queries that the parser accepts but the printer rejects are skipped: enumeration members by number, custom options without a
        // name.
        let printer = QueryPrinter(version: version)
        guard let printed = try? printer.text(of: query), let again = try? parser.query(printed) else { return }
        check((try? printer.text(of: again)) == printed, "\(printed) doesn't come back")
    }

    private func readExpression(_ text: String, _ version: ODataVersion) {
        let parser = QueryParser(version: version)
        guard let expression = try? parser.expression(text) else { return }
        let printer = QueryPrinter(version: version)
        guard let printed = try? printer.text(of: expression), let again = try? parser.expression(printed) else { return }
        check((try? printer.text(of: again)) == printed, "\(printed) doesn't come back")
    }

    private func readLiteral(_ text: String, _ version: ODataVersion) {
        let parser = QueryParser(version: version)
        let printer = QueryPrinter(version: version)
        guard let value = try? parser.literal(text), let printed = try? printer.text(of: value) else { return }
        let again = try? parser.literal(printed)
        if version == .v2 {
            // A number without a suffix gets one, and then has a fixed type: the text after the first round trip must stay the same.
            let second = again.flatMap { try? printer.text(of: $0) }
            let third = second.flatMap { try? parser.literal($0) }.flatMap { try? printer.text(of: $0) }
            check(second != nil && second == third, "\(printed) doesn't come back in V2")
        } else {
            check(again == value || "\(value)".contains("nan"), "\(printed) doesn't come back")
        }
    }

    private func readText(_ text: String) {
        func comes<Value: Equatable & CustomStringConvertible>(_ read: (String) -> Value?) {
            guard let value = read(text) else { return }
            check(read(value.description) == value, "\(text.debugDescription) doesn't come back")
        }
        comes { EdmDate($0) }
        comes { EdmTimeOfDay($0) }
        comes { EdmDuration($0) }
        comes { EdmBinary($0) }
        comes { EdmDecimal($0) }
        comes { EdmDateTimeOffset($0) }
        comes { EdmFlags<Sample.Colour>($0) }
        if let value = EdmDecimal(text) {
            if let plain = value.plainText { check(EdmDecimal(plain) == value, "\(text.debugDescription) isn't \(plain)") }
            _ = value.integer(Int64.self)
        }
        _ = EdmDateTimeOffset(text)?.instant
        _ = ODataValue.string(text).decimal
        let json = (try? JSONEncoder().encode([text])) ?? Data()
        _ = try? ODataDecoder().decode([EdmDateTimeOffset].self, from: json)
        _ = try? ODataDecoder().decode([EdmTimeOfDay].self, from: json)
        _ = try? ODataDecoder().decode([EdmDate].self, from: json)
        _ = try? ODataDecoder().decode([Date].self, from: json)
        _ = try? ODataDecoder().decode([Duration].self, from: json)
        _ = try? ODataDecoder().decode([Decimal].self, from: json)
        _ = try? ODataDecoder().decode([Int64].self, from: json)
        _ = try? ODataDecoder().decode([Double].self, from: json)
        _ = try? ODataDecoder().decode([Float].self, from: json)
        _ = try? ODataDecoder().decode([UUID].self, from: json)
        _ = try? ODataDecoder().decode([URL].self, from: json)
        _ = try? ODataDecoder().decode([Data].self, from: json)
    }
}
