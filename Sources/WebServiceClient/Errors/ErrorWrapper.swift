/// Makes a ``ServiceError`` of whatever went wrong: the one place that knows which error means which kind.
struct ErrorWrapper {
    let call: CallIdentity
    let request: ServiceRequest?
    var response: ResponseSummary?
    /// What is secret in the request, also where there is none yet.
    var secrets: RequestSecrets?
    /// Whether it was the authentication provider that has thrown.
    var isByProvider = false

    /// The error as the call throws it. Cancellation of the task and a dry run's end pass as they are.
    func wrap(_ error: any Error, stage: ServiceError.Stage) -> any Error {
        switch error {
        case is DryRun.Stop: return error
        case is CancellationError where Task.isCancelled: return error
        default: break
        }
        if Task.isCancelled { return CancellationError() }
        let (kind, precise) = classify(error, stage: stage)
        var result = ServiceError(
            call: call, stage: precise, kind: kind, message: message(of: error, stage: stage), request: request.map(RequestSummary.init),
            response: response, cause: (error as? RequestBodyError)?.underlying ?? error)
        result.hide(secrets)
        return result
    }

    private func classify(_ error: any Error, stage: ServiceError.Stage) -> (ServiceError.Kind, ServiceError.Stage) {
        switch error {
        case let error as TransportError: (error.isTimeout ? .timeout : .transport, stage == .body ? .body : .transport)
        case is RedirectError: (.redirect, .chain)
        case is ArgumentError: (.argument, stage)
        case is BodyEncodingError: (.encoding, .binding)
        case is InvalidRequest: (.request, stage)
        case is RequestBodyError: (.encoding, .transport)
        case is ResponseBodyTooLarge: (.bodyTooLarge, .body)
        case is AuthenticationError: (.authentication, .chain)
        default: (stage == .binding ? .request : isByProvider ? .authentication : .interceptor, stage)
        }
    }

    /// What the error says. Another call's error, such as that of a call for a token, is told in one line: its own report is the cause's.
    private func message(of error: any Error, stage: ServiceError.Stage) -> String {
        guard let inner = error as? ServiceError else { return ServiceError.text(of: error) }
        let place =
            switch stage {
            case .body: "while the body was read"
            case .binding: "while the request was made"
            default: isByProvider ? "by the authentication provider" : "by an interceptor"
            }
        return "Another call, made \(place), failed: \(inner.headline)"
    }
}
