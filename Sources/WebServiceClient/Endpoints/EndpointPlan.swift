/// A descriptor compiled for its key: templates split, arguments numbered, literals encoded. A call parses nothing.
struct EndpointPlan: Sendable {
    enum Path: Sendable {
        /// No placeholder: the encoded path.
        case fixed(String)
        /// Segments, each of pieces whose literals are encoded already.
        case segments([Template])
        /// One placeholder is the whole path and takes a relative one.
        case whole(Int)
        /// An RFC 6570 template with the positions of its variables.
        case uriTemplate(URITemplate, [String: Int])
    }

    enum Query: Sendable {
        /// Encoded text without a placeholder.
        case fixed(String)
        /// A pair with placeholders, its literals encoded already; left out when an argument is `nil`.
        case pair(name: Template, value: Template?)
        /// A pair, or several, from an argument; the name is plain.
        case named(String, Int)
        /// The fields of an argument.
        case reflected(Int)
    }

    enum Header: Sendable {
        case fixed(HTTPFields.Name, String)
        case template(HTTPFields.Name, Template)
        case reflected(Int)

        /// The field's name, where it is known before the call.
        var name: HTTPFields.Name? {
            switch self {
            case .fixed(let name, _), .template(let name, _): name
            case .reflected: nil
            }
        }
    }

    let key: MethodName
    let method: ServiceRequest.Method
    var route: String
    /// What names the endpoint in errors and metrics, where the key doesn't.
    var label: String?
    let names: ArgumentNames
    /// The service root, when it has placeholders of this method's arguments.
    var root: Template?
    var path: Path = .fixed("")
    var query: [Query] = []
    var headers: [Header] = []
    /// The positions of the arguments whose labels say that they are secrets.
    var secretArguments: [Int] = []
    /// The position of the argument that is the body.
    var body: Int?
    /// What the call's cached response is found and dropped by.
    var cacheIdentifier: Template?
    /// The wire names that lead to the value inside the payload.
    var payloadRoot: [String] = []
    /// The descriptor's own settings.
    var settings = EndpointSettings()
}
