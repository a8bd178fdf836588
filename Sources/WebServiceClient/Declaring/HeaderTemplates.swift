/// The header fields of client and class whose values have placeholders, such as `%%tenant%%`.
struct HeaderTemplates: Hashable, Sendable {
    private var common: [HTTPFields.Field] = []
    private var perMethod: [ServiceRequest.Method: [HTTPFields.Field]] = [:]

    /// No fields.
    init() {}

    /// Creates the templates of a class.
    ///
    /// - Parameters:
    ///   - headers: The merged fields of client and class.
    ///   - defaults: The class's defaults, for those per method.
    init(_ headers: HTTPFields, _ defaults: EndpointDefaults) {
        common = Self.split(headers).templates
        for (method, own) in defaults.perMethod {
            var all = headers
            all.replace(with: own.headers)
            let templates = Self.split(all).templates
            if templates != common { perMethod[method] = templates }
        }
    }

    /// The fields of the endpoints of a method.
    subscript(method: ServiceRequest.Method) -> [HTTPFields.Field] { perMethod[method] ?? common }

    /// Separates the fields with placeholders. If one of several fields of a name has placeholders, all of them count, to keep their order.
    static func split(_ headers: HTTPFields) -> (fixed: HTTPFields, templates: [HTTPFields.Field]) {
        let names = Set(headers.filter { !Template.placeholders(in: $0.value).isEmpty }.map(\.name))
        guard !names.isEmpty else { return (headers, []) }
        return (HTTPFields(headers.filter { !names.contains($0.name) }), headers.filter { names.contains($0.name) })
    }
}
