import Foundation
import WebServiceClient

/// What all calls of a client have in common, derived from its settings once.
///
/// The client drops it when one of these settings changes. Calls in flight keep theirs, and the next call is compiled with the new one.
struct CallSettings: Sendable {
    let printer: QueryPrinter
    let longQueries: LongQueryPolicy
    /// The `Accept` field of calls for a payload; `nil` if the serializer's applies.
    let accept: String?
    /// The `Accept` field of calls whose result may be a stream property, which has any media type; `nil` in version 2, which has none.
    let acceptWithStreams: String?
    /// The media type of payloads that the serializer accepts.
    private let payloadType: String
    /// The reading and writing of payloads, and of calls whose result is the whole body.
    private let insidePayload: SharedCallSettings
    private let wholeBody: SharedCallSettings

    /// - Parameter asksForIEEE754Compatible: Whether wide numbers are requested and written as strings.
    init(
        printer: QueryPrinter, longQueries: LongQueryPolicy, types: TypeRegistry, userInfo: [CodingUserInfoKey: any Sendable],
        metadataLevel: MetadataLevel, asksForIEEE754Compatible: Bool
    ) {
        self.printer = printer
        self.longQueries = longQueries
        let version = printer.version
        let isCompatible = asksForIEEE754Compatible && version != .v2
        let type = "application/json;odata.metadata=\(metadataLevel.rawValue)" + (isCompatible ? ";IEEE754Compatible=true" : "")
        accept = version != .v2 && metadataLevel != .minimal ? type : nil
        acceptWithStreams = version == .v2 ? nil : type + ", */*;q=0.1"
        func shared(_ place: ODataSerializer.PlainValues) -> SharedCallSettings {
            var serializer = ODataSerializer(
                format: PayloadFormat(version: version, isIEEE754Compatible: asksForIEEE754Compatible), types: types, userInfo: userInfo)
            serializer.plainValues = place
            var reader = serializer
            reader.format = PayloadFormat(accepting: version, isIEEE754Compatible: isCompatible)
            return SharedCallSettings { $0.serializer(serializer).decoding(with: reader) }
        }
        payloadType = PayloadFormat(accepting: version, isIEEE754Compatible: isCompatible).contentType
        insidePayload = shared(.inside)
        wholeBody = shared(.whole)
    }

    var version: ODataVersion { printer.version }

    /// Returns the call with these settings and the header fields of the version and the place.
    func applied(to call: ServiceCall, _ place: ResultPlace, for result: any Any.Type) -> ServiceCall {
        var call = call.sharing(place == .payload ? insidePayload : wholeBody)
        if version == .v2 {
            // A service root that supports several versions would answer the header of version 4 in version 4.
            for (name, value) in EndpointDefaults.headers(of: version) { call = call.constantHeader(HTTPFields.Name(name), value) }
            call = call.header("OData-MaxVersion", nil)
        } else if version > .v4 {
            call = call.constantHeader("OData-MaxVersion", version.rawValue)
        }
        return accept(place, for: result).map { call.constantHeader(.accept, $0) } ?? call
    }

    /// Returns the `Accept` field of a call whose body isn't read by the serializer.
    func accepted(_ place: ResultPlace, for result: any Any.Type) -> String { accept(place, for: result) ?? payloadType }

    /// Returns the `Accept` field of a call; `nil` if the serializer's applies.
    private func accept(_ place: ResultPlace, for result: any Any.Type) -> String? {
        switch place {
        case .raw: "*/*"
        case .count: "text/plain, */*;q=0.1"
        case .payload: (result == Data.self || result == Data?.self ? acceptWithStreams : nil) ?? accept
        }
    }
}
