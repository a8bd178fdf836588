import Foundation
import OData
import WebServiceClient

/// The parsers that read what strangers write.
enum ParserTarget: CaseIterable {
    case challenges, uriTemplate, urlText, percentEncoding, form, mediaType, methodName, retryAfter, profile, odataError, formDecoding,
        odataQuery, odataLiteral

    func run(_ text: String, _ data: Data) {
        switch self {
        case .challenges:
            _ = AuthenticationChallenge.challenges(in: text.split(separator: "\n").map(String.init))
        case .uriTemplate:
            guard let template = try? URITemplate(text) else { return }
            _ = try? template.expand { name in .string(name) }
            _ = try? template.expand { name in .list([name, "b/c"]) }
        case .urlText:
            let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
            _ = URLText.resolve(parts.first ?? "", against: parts.last ?? "")
            let repaired = URLText.repaired(text)
            check(URLText.repaired(repaired) == repaired, "repairing twice changes \(text.debugDescription)")
        case .percentEncoding:
            check(URLEncoding.decode(URLEncoding.encode(text)) == text, "encoding loses \(text.debugDescription)")
        case .form:
            _ = URLEncoding.parseForm(text)
            _ = URLEncoding.parseQuery(text)
        case .mediaType:
            guard let type = MediaType(text) else { return }
            check(MediaType(type.description) == type, "\(text.debugDescription) doesn't come back")
        case .methodName:
            guard let name = try? MethodName(text) else { return }
            check((try? MethodName(name.description)) == name, "\(text.debugDescription) doesn't come back")
        case .retryAfter:
            _ = RetryAfter(text)?.delay()
        case .profile:
            _ = ServiceProfile.verify(data)
        case .odataError:
            _ = ODataErrorBody(data)
        case .odataQuery:
            for version in [ODataVersion.v401, .v2] {
                guard let query = try? QueryParser(version: version).query(text) else { continue }
                // What a service may say but the printer doesn't is left: enumeration members by number, custom options without a name.
                let printer = QueryPrinter(version: version)
                guard let printed = try? printer.text(of: query), let again = try? QueryParser(version: version).query(printed) else {
                    continue
                }
                check((try? printer.text(of: again)) == printed, "\(printed) doesn't come back")
            }
        case .odataLiteral:
            guard let value = try? QueryParser().literal(text), let printed = try? QueryPrinter(version: .v401).text(of: value) else {
                return
            }
            check((try? QueryParser().literal(printed)) == value || "\(value)".contains("nan"), "\(printed) doesn't come back")
        case .formDecoding:
            guard !data.isEmpty else { return }
            _ = try? FormSerializer().decode([String: [String]].self, from: data, at: [], contentType: nil)
        }
    }

    private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { fatalError(message()) }
    }
}
